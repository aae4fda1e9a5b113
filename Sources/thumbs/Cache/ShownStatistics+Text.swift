import Foundation

extension ShownStatistics {
  /// The statistics as lines for people.
  var table: String {
    let average = thumbnailBytes / max(1, thumbnails)
    let lines = [
      ("Cache", "\(CacheText.field(directory))  (generation \(generation))"),
      (
        "Size",
        "\(CacheText.size(usedBytes))   on disk \(CacheText.size(databaseBytes)) + log \(CacheText.size(logBytes))"
      ),
      ("Limit", storedLimit.map(CacheText.size) ?? "none stored in the cache"),
      ("Sources", "\(sources)   fresh \(freshSources)  stale \(staleSources)  failed \(failures)"),
      ("Thumbnails", "\(thumbnails)   \(CacheText.size(thumbnailBytes))   average \(CacheText.size(average))"),
      ("Originals", CacheText.size(originalBytes)), ("Oldest use", oldestUse.map(CacheText.time) ?? "-"),
    ]
    return (lines + runLines + smallerLines).map { name, text in
      name.padding(toLength: 12, withPad: " ", startingAt: 0) + text
    }.joined(separator: "\n")
  }

  /// The hits by tier and the evictions of the last run, and of all runs that are remembered.
  private var runLines: [(String, String)] {
    guard let last = runs.first else { return [] }
    return [("Last run", Self.text([last]))] + (runs.count > 1 ? [("\(runs.count) runs", Self.text(runs))] : [])
  }

  private static func text(_ runs: [Run]) -> String {
    func sum(_ number: KeyPath<Run, Int>) -> Int { runs.reduce(0) { $0 + $1[keyPath: number] } }
    let (memory, disk, misses) = (sum(\.memoryHits), sum(\.diskHits), sum(\.misses))
    let hits = 100 * Double(memory + disk) / Double(max(1, memory + disk + misses))
    let lookups = "memory \(memory)  disk \(disk)  missed \(misses)"
    return "\(hits.text(places: 1)) % hits   \(lookups)   evicted \(sum(\.evicted))"
  }

  private var smallerLines: [(String, String)] {
    smaller.map {
      let kept = "\($0.sources) of \(sources) sources, \(CacheText.size($0.bytes))"
      return ("At 1/\(usedBytes / max(1, $0.limit))", "\(CacheText.size($0.limit)) would keep \(kept)")
    }
  }

  /// The statistics as tab-separated values: a line of names and a line of values.
  var separated: String {
    let columns: [(String, String)] = [
      ("directory", CacheText.field(directory)), ("generation", "\(generation)"),
      ("sources", "\(sources)"), ("freshSources", "\(freshSources)"),
      ("staleSources", "\(staleSources)"), ("failures", "\(failures)"),
      ("thumbnails", "\(thumbnails)"), ("thumbnailBytes", "\(thumbnailBytes)"),
      ("usedBytes", "\(usedBytes)"), ("databaseBytes", "\(databaseBytes)"),
      ("logBytes", "\(logBytes)"), ("originalBytes", "\(originalBytes)"),
      ("storedLimit", storedLimit.map { "\($0)" } ?? ""), ("oldestUse", oldestUse.map(CacheText.time) ?? ""),
    ]
    return [columns.map(\.0), columns.map(\.1)].map { $0.joined(separator: "\t") }.joined(separator: "\n")
  }
}
