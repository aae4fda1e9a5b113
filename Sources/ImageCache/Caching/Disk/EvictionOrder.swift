import FoundationEssentials
import GRDB

/// The order in which rows are evicted: those with a last use in the future first, recorded while a clock ran ahead,
/// because everything stored since would otherwise be evicted before them; then by last use.
struct EvictionOrder {
  /// The seconds by which the clocks of processes that share a cache may differ.
  private static let clockTolerance = 3600

  private let now: Int
  /// The order within a second.
  private let order: SlotOrder
  /// The times of all slots, by chunk.
  private let chunks: [(number: Int, chunk: UseChunk)]

  /// Reads the times of all slots.
  init(now: Int, _ order: SlotOrder = SlotOrder(), in database: Database) throws {
    (self.now, self.order) = (now, order)
    var run = try StatementRun("SELECT chunk, times FROM used ORDER BY chunk", in: database)
    var chunks: [(Int, UseChunk)] = []
    while var columns = try run.next() {
      guard let number = columns.integer(), SlotTable.isValid(number) else { continue }
      if let bytes = columns.bytes() { chunks.append((number, UseChunk(bytes))) }
    }
    self.chunks = chunks
  }

  /// Returns the next `count` slots in the order of eviction; fewer if there are no more.
  func first(_ count: Int) -> [Int] {
    let limit = threshold(count)
    var (earlier, last): ([(rank: UInt32, slot: Int)], [Int]) = ([], [])
    forEachSlot { slot, rank in
      if rank < limit { earlier.append((rank, slot)) } else if rank == limit { last.append(slot) }
    }
    let ranks = Dictionary(grouping: earlier, by: \.rank).sorted { $0.key < $1.key }
    let slots = ranks.flatMap { order.sorted($0.value.map(\.slot)) } + order.sorted(last)
    return Array(slots.prefix(count))
  }

  /// Returns the rank of a time: rows of lower rank are evicted first.
  static func rank(_ time: UInt32, now: Int) -> UInt32 {
    time > UseChunk.time(now + clockTolerance) ? 0 : time
  }

  /// Returns the smallest rank with which, together with all smaller ones, at least `count` slots are found.
  private func threshold(_ count: Int) -> UInt32 {
    // Neighbors often have the same time, so that counting runs of them fills a small dictionary.
    var counts: [UInt32: Int] = [:]
    var (run, length): (UInt32, Int) = (0, 0)
    forEachSlot { _, rank in
      if rank == run { return length += 1 }
      counts[run, default: 0] += length
      (run, length) = (rank, 1)
    }
    counts[run, default: 0] += length
    var sum = 0
    for rank in counts.keys.sorted() {
      sum += counts[rank] ?? 0
      if sum >= count { return rank }
    }
    return .max
  }

  private func forEachSlot(_ body: (_ slot: Int, _ rank: UInt32) -> Void) {
    let latest = UseChunk.time(now + Self.clockTolerance)
    for (number, chunk) in chunks {
      for index in 0..<UseChunk.length {
        let time = chunk[index]
        if time != UseChunk.free { body(number * UseChunk.length + index, time > latest ? 0 : time) }
      }
    }
  }
}

extension EvictionOrder {
  /// Returns the oldest last use of any row; nil if there are no rows.
  static func oldestUse(in database: Database) throws -> Date? {
    var oldest: UInt32?
    try EvictionOrder(now: 0, in: database).forEachTime { oldest = min(oldest ?? $0, $0) }
    return oldest.map { Date(timeIntervalSince1970: Double($0)) }
  }

  private func forEachTime(_ body: (UInt32) -> Void) {
    for (_, chunk) in chunks {
      for index in 0..<UseChunk.length where chunk[index] != UseChunk.free { body(chunk[index]) }
    }
  }
}
