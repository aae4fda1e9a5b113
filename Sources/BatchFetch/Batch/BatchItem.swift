/// One element of a batch with its outcome.
public struct BatchItem<Element: Sendable>: Sendable {
  /// The position of the element in the sequence, from 0.
  public let index: Int
  /// The element.
  public let element: Element
  /// The thumbnails or the failure.
  public let outcome: Result<ThumbnailSet, FetchFailure>
  /// The number of finished elements, including this one: 1 for the first item delivered, then 2, and so on.
  public let finished: Int
  /// The number of elements in the sequence; nil if it is unknown.
  public let total: Int?

  /// Creates an item from its parts, for tests of code that shows it.
  public init(
    index: Int, element: Element, outcome: Result<ThumbnailSet, FetchFailure>, finished: Int, total: Int? = nil
  ) {
    self.index = index
    self.element = element
    self.outcome = outcome
    self.finished = finished
    self.total = total
  }
}

/// The progress of a batch: its elements, and the bytes of their sources.
///
/// ```swift
/// batch.start { item in
///   print(item.index, item.outcome)
/// } progress: { progress in
///   print(progress.finished, progress.receivedBytes, progress.expectedBytes ?? 0)
/// }
/// ```
public struct BatchProgress: Hashable, Sendable {
  /// Receives progress: with the first bytes or the first outcome, then at most once per interval
  /// (``Downloader/Configuration/progressInterval``), and last, right before the completion.
  public typealias Handler = @Sendable (BatchProgress) -> Void

  /// The number of outcomes delivered, including failures and cancellations.
  public var finished: Int
  /// The number of failures among them.
  public var failed: Int
  /// The number of cancellations among them.
  public var cancelled: Int
  /// The number of elements in the sequence; nil if it is unknown.
  public var total: Int?
  /// The bytes of the sources that are being downloaded, or were downloaded successfully, for the elements. Elements
  /// that are served from the cache have none. A source that several elements share counts for each of them;
  /// ``ThumbnailPipeline/downloadedBytes`` counts it once. The number falls when a download fails or starts over.
  public var receivedBytes: Int
  /// The lengths of the same sources, added up; nil while one of them is unknown. Downloads that have not received any
  /// bytes yet have no part in it, so the number grows with the elements that begin.
  public var expectedBytes: Int?

  /// Creates progress from its parts, for tests of code that shows it.
  public init(
    finished: Int = 0, failed: Int = 0, cancelled: Int = 0, total: Int? = nil, receivedBytes: Int = 0,
    expectedBytes: Int? = nil
  ) {
    self.finished = finished
    self.failed = failed
    self.cancelled = cancelled
    self.total = total
    self.receivedBytes = receivedBytes
    self.expectedBytes = expectedBytes
  }
}

/// The counts of a batch that has ended.
public struct BatchSummary: Hashable, Sendable {
  /// The number of outcomes delivered, including failures and cancellations.
  public let finished: Int
  /// The number of failures.
  public let failed: Int
  /// The number of canceled elements.
  public let cancelled: Int
  /// True if the batch was canceled. Elements that had not begun by then have no outcome.
  public let isCancelled: Bool
  /// The bytes of the sources that were downloaded for the elements. Failures, and elements that were served from the
  /// cache, have none. A source that several elements share counts for each of them.
  public let receivedBytes: Int

  /// Creates a summary from its parts, for tests of code that shows it.
  public init(finished: Int, failed: Int, cancelled: Int, isCancelled: Bool, receivedBytes: Int = 0) {
    self.finished = finished
    self.failed = failed
    self.cancelled = cancelled
    self.isCancelled = isCancelled
    self.receivedBytes = receivedBytes
  }

  /// The number of elements with thumbnails.
  public var succeeded: Int { finished - failed - cancelled }
}
