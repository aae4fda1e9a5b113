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
