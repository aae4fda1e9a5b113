import Synchronization

/// A thread-safe meter of concurrent work and its peak.
public final class LoadMeter: Sendable {
  private let load = Mutex((now: 0, peak: 0))

  public init() {}

  /// The amount of work at present.
  public var now: Int { load.withLock { $0.now } }

  public var peak: Int { load.withLock { $0.peak } }

  public func enter() {
    load.withLock { load in
      load.now += 1
      load.peak = max(load.peak, load.now)
    }
  }

  public func leave() { load.withLock { $0.now -= 1 } }
}
