import Synchronization

/// The time since the start of something, which only a test moves.
public final class Stopwatch: Sendable {
  private let milliseconds = Atomic(0)

  public init() {}

  public var elapsed: Duration { .milliseconds(milliseconds.load(ordering: .relaxed)) }

  public func move(to second: Int) { milliseconds.store(1000 * second, ordering: .relaxed) }
}
