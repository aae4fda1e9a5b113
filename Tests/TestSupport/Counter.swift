import Synchronization

/// A thread-safe counter of calls.
public final class Counter: Sendable {
  private let count = Atomic(0)

  public init() {}

  public var value: Int { count.load(ordering: .acquiring) }

  /// Counts one call and returns its number, starting with 1.
  @discardableResult
  public func next() -> Int { count.add(1, ordering: .acquiringAndReleasing).newValue }
}
