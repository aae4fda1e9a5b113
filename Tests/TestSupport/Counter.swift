import Synchronization

/// Counts calls from any thread.
public final class Counter: Sendable {
  private let count = Atomic(0)

  public init() {}

  public var value: Int { count.load(ordering: .acquiring) }

  /// 1 for the first call, 2 for the second.
  @discardableResult
  public func next() -> Int { count.add(1, ordering: .acquiringAndReleasing).newValue }
}
