import Foundation
import ImageCache

/// Compares the disk tier with one plain file per entry: open, read, close; write to a temporary file, rename.
struct DiskBenchmark {
  let directory: String
  private let count = 20_000
  private let size = 12 << 10
  /// The number of entries stored between two flushes, which is well below the staging limit.
  private let stride = 1000
  private let rounds = 3
  /// The number of lookups that a pipeline makes at once while many requests wait.
  private let group = 64

  func run() throws {
    print("Disk: \(count) entries of \(size) bytes, random reads from the page cache, writes without fsync")
    try FileManager.default.createDirectory(atPath: directory + "/files", withIntermediateDirectories: true)
    let bodies = (0..<count).map { Entry.body($0, count: size) }
    let entries = (0..<count).map(Entry.init)
    let fileWrites = rate { for number in 0..<count { writeFile(number, bodies[number]) } }
    let cache = ThumbnailCache.onDisk(directory + "/cache")
    let cacheWrites = rate { write(entries, bodies, to: cache) }
    report("files written", fileWrites, "1/s")
    report("entries written", cacheWrites, "1/s", goal(cacheWrites / fileWrites, atLeast: 2))

    var (fileReads, cacheReads, groupedReads) = (0.0, 0.0, 0.0)
    var generator = SplitMix(state: 7)
    for _ in 0..<rounds {
      let order = (0..<count).shuffled(using: &generator)
      fileReads = max(fileReads, rate { for number in order { readFile(number) } })
      cacheReads = max(cacheReads, rate { for number in order { precondition(entries[number].isFound(in: cache)) } })
      groupedReads = max(groupedReads, rate { look(order.map { entries[$0].lookup }, in: cache) })
    }
    report("files read", fileReads, "1/s")
    report("entries read one by one", cacheReads, "1/s", goal(cacheReads / fileReads, atLeast: 0.4))
    report("entries read, \(group) at once", groupedReads, "1/s", goal(groupedReads / fileReads, atLeast: 0.5))
  }

  private func rate(_ body: () -> Void) -> Double { Double(count) / seconds(body) }

  private func write(_ entries: [Entry], _ bodies: [[UInt8]], to cache: ThumbnailCache) {
    for number in 0..<count {
      entries[number].store(bodies[number], in: cache)
      if number % stride == stride - 1 { cache.flush() }
    }
    cache.flush()
    precondition(cache.counters.dropped == 0, "\(cache.counters)")
  }

  private func look(_ lookups: [CacheLookup], in cache: ThumbnailCache) {
    for first in Swift.stride(from: 0, to: lookups.count, by: group) {
      let entries = cache.entries(for: Array(lookups[first..<min(first + group, lookups.count)]))
      precondition(entries.allSatisfy { $0?.thumbnails.count == 1 })
    }
  }

  private func path(_ number: Int) -> String { "\(directory)/files/\(number)" }

  private func writeFile(_ number: Int, _ body: [UInt8]) {
    let temporary = path(number) + ".new"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    precondition(Foundation.write(descriptor, body, body.count) == body.count)
    close(descriptor)
    precondition(rename(temporary, path(number)) == 0)
  }

  private func readFile(_ number: Int) {
    let descriptor = open(path(number), O_RDONLY | O_CLOEXEC)
    let body = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = read(descriptor, buffer.baseAddress, size)
    }
    close(descriptor)
    precondition(body.count == size)
  }
}
