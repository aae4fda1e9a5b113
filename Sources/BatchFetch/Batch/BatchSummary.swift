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

  /// The number of elements with thumbnails.
  public var succeeded: Int { finished - failed - cancelled }
}
