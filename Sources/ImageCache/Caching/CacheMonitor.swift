import CoreMetrics
import Logging
import Synchronization

/// Counts what happens in a cache and logs the first failure of each kind.
final class CacheMonitor: Sendable {
  private let counters = Mutex(CacheCounters())
  /// Kept outside the mutex so that memory hits never wait for a lock.
  private let memoryHits = Atomic(0)
  private let logger: Logger
  let metrics: CacheMetrics

  /// - Parameters:
  ///   - logger: Receives the first failure of each kind.
  ///   - metrics: Receives the metrics. Default: they are dropped.
  init(logger: Logger, metrics: CacheMetrics = CacheMetrics(NOOPMetricsHandler.instance, hasDisk: false)) {
    self.logger = logger
    self.metrics = metrics
  }

  var snapshot: CacheCounters {
    var result = counters.withLock { $0 }
    result.memoryHits = memoryHits.load(ordering: .relaxed)
    return result
  }

  /// Counts a memory hit.
  func countMemoryHit() {
    memoryHits.wrappingAdd(1, ordering: .relaxed)
    metrics.memory.hits.increment()
  }

  /// Counts any other event.
  func count(_ change: (inout CacheCounters) -> Void) {
    let (old, new) = counters.withLock { counters in
      let old = counters
      change(&counters)
      return (old, counters)
    }
    metrics.record(from: old, to: new)
  }

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
