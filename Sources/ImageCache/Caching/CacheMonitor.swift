import Logging
import Synchronization

/// Counts what happens in a cache and logs the first failure of each kind.
final class CacheMonitor: Sendable {
  private let counters = Mutex(CacheCounters())
  /// Kept outside the mutex so that memory hits never wait for a lock.
  private let memoryHits = StripedCounter()
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  var snapshot: CacheCounters {
    var result = counters.withLock { $0 }
    result.memoryHits = memoryHits.value
    return result
  }

  /// Counts a memory hit of `key`.
  func countMemoryHit(of key: SourceKey) { memoryHits.increment(key.scatteredBits) }

  /// Counts any other event.
  func count(_ change: (inout CacheCounters) -> Void) { counters.withLock { change(&$0) } }

  /// Counts a failure of the disk tier.
  func record(_ error: DiskCacheError) {
    let isFirst = counters.withLock { counters in
      counters.errors[error.code, default: 0] += 1
      return counters.errors[error.code] == 1
    }
    // A full disk fails every write, so only the first failure is logged.
    guard isFirst else { return }
    logger.warning("\(error.message)", metadata: ["code": "\(error.code.rawValue)", "tier": "disk cache"])
  }
}
