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
