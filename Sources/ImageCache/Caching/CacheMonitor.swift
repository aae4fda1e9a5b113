import CoreMetrics
import Logging
import Synchronization

/// Counts what happens in a cache and logs the first failure of each kind.
final class CacheMonitor: Sendable {
  private let counters = Mutex(CacheCounters())
  /// Kept outside the mutex so that memory hits never wait for a lock.
  private let memoryHits = StripedCounter()
  /// The memory hits that the metrics have.
  private let publishedHits = Mutex(0)
  private let logger: Logger
  let metrics: CacheMetrics

  /// - Parameters:
  ///   - logger: Receives the first failure of each kind. Its metadata has `cache: off` if the cause is lasting.
  ///   - metrics: Receives the metrics. Default: they are dropped.
  init(logger: Logger, metrics: CacheMetrics = CacheMetrics(NOOPMetricsHandler.instance, hasDisk: false)) {
    self.logger = logger
    self.metrics = metrics
  }

  var snapshot: CacheCounters {
    var result = counters.withLock { $0 }
    result.memoryHits = memoryHits.value
    return result
  }

  /// Counts a memory hit of `key`. It reaches the metrics with ``publishMemoryHits()``: emitting it would take longer
  /// than the hit.
  func countMemoryHit(of key: SourceKey) { memoryHits.increment(key.scatteredBits) }

  /// Adds the memory hits since the last call to the metrics.
  func publishMemoryHits() {
    let hits = publishedHits.withLock { published in
      let count = memoryHits.value
      defer { published = count }
      return count - published
    }
    if hits > 0 { metrics.memory.hits.increment(by: hits) }
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
    var metadata: Logger.Metadata = ["code": "\(error.code.rawValue)", "tier": "disk cache"]
    if error.isLasting { metadata["cache"] = "off" }
    logger.warning("\(error.message)", metadata: metadata)
  }
}
