public import FoundationEssentials

/// The numbers of one run of a program that used a cache.
public struct CacheRun: Hashable, Sendable {
  /// The time at which the run ended, in whole seconds.
  public var ended: Date
  /// Lookups served from memory.
  public var memoryHits: Int
  /// Lookups served at least partly from disk.
  public var diskHits: Int
  /// Lookups that found no source.
  public var misses: Int
  /// Sources committed to disk.
  public var written: Int
  /// Sources removed from disk to stay within the limit.
  public var evicted: Int
  /// Sources that were not written to disk because a write failed or too many writes were waiting.
  public var dropped: Int

  /// The number of lookups.
  public var lookups: Int { memoryHits + diskHits + misses }

  init(ended: Date, _ counters: CacheCounters) {
    self.ended = Date(timeIntervalSince1970: Double(ended.wholeSeconds))
    (memoryHits, diskHits, misses) = (counters.memoryHits, counters.diskHits, counters.misses)
    (written, evicted, dropped) = (counters.written, counters.evicted, counters.dropped)
  }
}

extension CacheRun {
  /// The run as one line: its numbers in the order of the properties.
  var line: String {
    let numbers = [ended.wholeSeconds, memoryHits, diskHits, misses, written, evicted, dropped]
    return numbers.map(String.init).joined(separator: " ")
  }

  /// Creates the run of a ``line``; nil for any other text.
  init?(line: some StringProtocol) {
    let numbers = line.split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 7, numbers.allSatisfy({ 0..<1 << 40 ~= $0 }) else { return nil }
    ended = Date(timeIntervalSince1970: Double(numbers[0]))
    (memoryHits, diskHits, misses) = (numbers[1], numbers[2], numbers[3])
    (written, evicted, dropped) = (numbers[4], numbers[5], numbers[6])
  }
}

extension CacheDirectory {
  /// The number of runs that are remembered.
  static let rememberedRuns = 20

  private var runsPath: String { path + "/RUNS" }

  /// Returns the last runs, newest first; empty if the file is missing or damaged.
  func runs() throws(DiskCacheError) -> [CacheRun] {
    let text = try text(ofFile: runsPath, limit: 8192)
    return (text ?? "").split(separator: "\n").compactMap { CacheRun(line: $0) }
  }

  /// Adds a run to the last ones, unless the directory contains no cache. A failure has no effect: the numbers are only
  /// for people.
  func record(_ run: CacheRun) {
    guard (try? currentGeneration()) ?? nil != nil else { return }
    try? FileLock(creating: lockPath).withLock(patience: .milliseconds(100)) { () throws(DiskCacheError) in
      let lines = ([run] + (try runs())).prefix(Self.rememberedRuns).map(\.line)
      try replace(runsPath, with: lines.joined(separator: "\n") + "\n", isSynced: false)
    }
  }
}

extension CacheInspector {
  /// The numbers of the last runs that recorded them with ``ThumbnailCache/recordRun()``, newest first; at most 20.
  public var runs: [CacheRun] { (try? directory.runs()) ?? [] }
}
