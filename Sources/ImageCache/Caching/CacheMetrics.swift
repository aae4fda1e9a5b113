import CoreMetrics
import Foundation

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
