/// What became of a batch.
public struct BatchSummary: Hashable, Sendable {
  /// Elements that were told of, failures and cancelled ones included.
  public let finished: Int
  /// Those of them that failed.
  public let failed: Int
  /// Those of them that were cancelled.
  public let cancelled: Int
  /// Whether the batch was cancelled. Elements that were not begun by then were not told of.
  public let isCancelled: Bool

  /// Those of them that have their thumbnails.
  public var succeeded: Int { finished - failed - cancelled }
}
