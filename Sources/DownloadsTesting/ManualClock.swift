internal import Synchronization

/// A clock that only moves when a test advances it.
///
/// ```swift
/// let clock = ManualClock()
/// var configuration = Downloader.Configuration()
/// configuration.clock = clock
/// clock.advance(by: .seconds(60))
/// ```
public final class ManualClock: Clock {
  /// A point in time, as seen from the start of the clock.
  public struct Instant: InstantProtocol {
    var offset: Duration

    /// Returns the instant that is later by `duration`.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    /// Returns the time from this instant to `other`.
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    /// Returns true if `a` is earlier than `b`.
    public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
  }

  fileprivate struct State {
    var now = Instant(offset: .zero)
    var lastID = 0
    var sleepers: [Int: (deadline: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  /// Creates a clock that stands still.
  public init() {}

  /// The current instant.
  public var now: Instant { state.withLock { $0.now } }
  /// Zero.
  public var minimumResolution: Duration { .zero }

  /// Suspends until ``advance(by:)`` reaches `deadline`, independently of the system clock.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
          guard deadline > state.now, !Task.isCancelled else {
            Task.isCancelled ? continuation.resume(throwing: CancellationError()) : continuation.resume()
            return []
          }
          state.sleepers[id] = (deadline, continuation)
          return state.takeReadyWatchers()
        }
        for watcher in ready { watcher.resume() }
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Advances the time and wakes the sleepers whose deadline has passed.
  public func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for id in due.keys { state.sleepers[id] = nil }
      return due.values.map(\.continuation)
    }
    for continuation in due { continuation.resume() }
  }

  /// Returns when at least `count` sleepers are waiting.
  public func waitForSleepers(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.sleepers.count >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// The time until the earliest deadline of a sleeper; nil without sleepers.
  public var nextDeadline: Duration? {
    state.withLock { state in state.sleepers.values.map { state.now.duration(to: $0.deadline) }.min() }
  }
}

extension ManualClock.State {
  fileprivate mutating func takeReadyWatchers() -> [CheckedContinuation<Void, Never>] {
    let ready = watchers.filter { $0.count <= sleepers.count }
    watchers.removeAll { $0.count <= sleepers.count }
    return ready.map(\.continuation)
  }
}
