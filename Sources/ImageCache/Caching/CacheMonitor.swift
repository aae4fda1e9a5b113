import Logging
import Synchronization

/// Counts what happens in a cache, and logs each kind of failure once.
final class CacheMonitor: Sendable {
  private let counters = Mutex(CacheCounters())
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  var snapshot: CacheCounters { counters.withLock { $0 } }

  /// Counts something.
  func count(_ change: (inout CacheCounters) -> Void) { counters.withLock { change(&$0) } }

  /// Counts a failure of the disk tier.
  func record(_ error: DiskCacheError) {
    let isFirst = counters.withLock { counters in
      counters.errors[error.code, default: 0] += 1
      return counters.errors[error.code] == 1
    }
    // A full disk fails every write; saying so once is enough.
    guard isFirst else { return }
    logger.warning("\(error.message)", metadata: ["code": "\(error.code.rawValue)", "tier": "disk cache"])
  }
}
