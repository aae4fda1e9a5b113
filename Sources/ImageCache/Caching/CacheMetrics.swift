import CoreMetrics
import Foundation
import Logging
import Synchronization

/// The metrics of a cache. The handles are made once, because making one may take a lock.
struct CacheMetrics: Sendable {
  /// The metrics of one tier, with the label `tier`.
  struct Tier: Sendable {
    let hits, misses, evictions: Counter
    let bytes: Gauge

    init(_ name: String, _ factory: any MetricsFactory) {
      let labels = [("tier", name)]
      hits = Counter(label: "thumbs_cache_hits_total", dimensions: labels, factory: factory)
      misses = Counter(label: "thumbs_cache_misses_total", dimensions: labels, factory: factory)
      evictions = Counter(label: "thumbs_cache_evictions_total", dimensions: labels, factory: factory)
      bytes = Gauge(label: "thumbs_cache_size_bytes", dimensions: labels, factory: factory)
    }
  }

  let memory: Tier
  /// Nil for a cache without a directory.
  let disk: Tier?

  init(_ factory: any MetricsFactory, hasDisk: Bool) {
    memory = Tier("memory", factory)
    disk = hasDisk ? Tier("disk", factory) : nil
  }

  /// Adds what has happened from `old` to `new`, except memory hits. A lookup that memory does not serve reaches the
  /// disk.
  func record(from old: CacheCounters, to new: CacheCounters) {
    let (hits, misses, evictions) = (
      new.diskHits - old.diskHits, new.misses - old.misses, new.evicted - old.evicted
    )
    if hits + misses > 0 { memory.misses.increment(by: hits + misses) }
    if hits > 0 { disk?.hits.increment(by: hits) }
    if misses > 0 { disk?.misses.increment(by: misses) }
    if evictions > 0 { disk?.evictions.increment(by: evictions) }
  }
}

extension ThumbnailCache {
  /// Sets the gauges, which are the sizes of the tiers, to their current values, and adds the memory hits since the
  /// last call. Call it before each export of the metrics. It may block on a disk read.
  public func updateGauges() {
    monitor.publishMemoryHits()
    monitor.metrics.memory.bytes.record(memoryUsage.bytes)
    guard let directory, let tier = monitor.metrics.disk else { return }
    let statistics = try? CacheInspector(directory: directory.path).statistics(at: now())
    tier.bytes.record(statistics?.usedBytes ?? 0)
  }
}

/// Counts of what a cache has done since it was created.
public struct CacheCounters: Hashable, Sendable {
  /// Lookups served from memory or from a write still waiting for the disk.
  public var memoryHits = 0
  /// Lookups that found everything, at least in part on disk.
  public var diskHits = 0
  /// Lookups that found no source or lacked a thumbnail.
  public var misses = 0
  /// Sources committed to disk.
  public var written = 0
  /// Sources that were not written to disk because a write failed or too many writes were waiting.
  public var dropped = 0
  /// Thumbnails too large for the disk limit.
  public var refused = 0
  /// Sources removed from disk to stay within the limit.
  public var evicted = 0
  /// Sources that were not written to disk because it is full of sources that are more likely to be used again.
  public var declined = 0
  /// Sources that were missing on disk only because they had been evicted or declined earlier.
  public var lost = 0
  /// Entries on disk that failed a check and were removed.
  public var unusable = 0
  /// Failures of the disk tier by cause.
  public var errors: [DiskCacheError.Code: Int] = [:]

  /// Creates counters that are all zero.
  public init() {}
}

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
  fileprivate func publishMemoryHits() {
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

/// A counter that threads increment at the same time without waiting for each other: each of its stripes has a line of
/// the processor's cache for itself.
struct StripedCounter: ~Copyable {
  private struct Stripe: ~Copyable {
    let count = Atomic(0)
    /// Fills the line of 64 bytes.
    private let padding: [7 of Int] = [0, 0, 0, 0, 0, 0, 0]
  }

  private let stripes: [8 of Stripe] = InlineArray { _ in Stripe() }

  /// Increments the counter. Threads with different `bits`, such as those of a key, seldom meet on a stripe.
  func increment(_ bits: UInt64) {
    stripes[Int(truncatingIfNeeded: bits >> 8) & 7].count.wrappingAdd(1, ordering: .relaxed)
  }

  /// The sum of all stripes.
  var value: Int { stripes.indices.reduce(0) { $0 + stripes[$1].count.load(ordering: .relaxed) } }
}
