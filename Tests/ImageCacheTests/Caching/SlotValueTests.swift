import Testing

@testable import ImageCache

@Suite("The values behind the order of eviction")
struct SlotValueTests {
  @Test func `A chunk keeps a time for each of its slots`() {
    var chunk = UseChunk()
    for index in 0..<UseChunk.length {
      chunk[index] = UInt32(index + 1)
      chunk.setFirst(index, index % 3 == 0)
    }
    chunk.setFirst(3, false)

    let copy = UseChunk(chunk.bytes)
    #expect((0..<UseChunk.length).allSatisfy { copy[$0] == UInt32($0 + 1) })
    #expect((0..<UseChunk.length).allSatisfy { copy.isFirst($0) == ($0 % 3 == 0 && $0 != 3) })
  }

  @Test(arguments: [0, 1, 3, 4, 5, 7679])
  func `Missing bytes of a chunk stand for free slots`(length: Int) {
    let chunk = UseChunk(Array(repeating: 0xff, count: length))
    for index in 0..<UseChunk.length where (index + 1) * 4 > length + 3 { #expect(chunk[index] == UseChunk.free) }
  }

  @Test(
    arguments: [(Int.min, 1), (-1, 1), (0, 1), (1, 1), (1_790_000_000, 1_790_000_000), (Int.max, 0xffff_ffff)]
      as [(Int, UInt32)])
  func `A recorded time is never that of a free slot`(now: Int, time: UInt32) {
    #expect(UseChunk.time(now) == time)
  }

  @Test(arguments: [(0, false), (3599, false), (3600, true), (-1, true), (-100_000, true)])
  func `A use is recorded after an hour, or when the clock was set back`(passed: Int, isDue: Bool) {
    #expect(UseChunk.isDue(1_790_000_000, now: 1_790_000_000 + passed) == isDue)
  }

  @Test(
    arguments: [
      (1000, 1000, false), (999, 1000, true), (1500, 1000, false), (1001, 1005, true), (1006, 1005, false),
    ]) func `A use is recorded once per epoch of a full cache`(time: Int, start: Int, isDue: Bool)
  {
    #expect(UseChunk.isDue(UInt32(time), now: 1500, start: start) == isDue)
  }

  @Test func `A new epoch makes every use due again`() {
    var recent = RecentUses()
    #expect(recent.note(5, now: 1000, start: 990) { _ in nil })
    #expect(!recent.note(5, now: 1001, start: 990) { _ in nil })
    #expect(recent.note(5, now: 1002, start: 1002) { _ in nil })
  }

  @Test func `A use is noted once per hour, and a chunk is read once`() {
    var (recent, reads) = (RecentUses(), 0)
    func load(_: Int) -> UseChunk? {
      reads += 1
      var chunk = UseChunk()
      chunk[7] = 9_000
      return chunk
    }
    func notes(_ slot: Int, _ now: Int) -> Bool { recent.note(slot, now: now, load: load) }

    #expect(notes(5, 10_000) && !notes(5, 10_100))
    // Used recently by another process.
    #expect(!notes(7, 10_000))
    #expect(reads == 1)
    #expect(notes(UseChunk.length, 10_200) && reads == 2)
    #expect(notes(5, 13_600) && notes(7, 13_600) && reads == 3)
    // The clock was set back.
    #expect(notes(7, 100))
  }

  @Test func `Slots that this process used come last, in the order of their uses`() {
    var order = SlotOrder()
    #expect(order.sorted([3, 1, 2]) == [3, 1, 2])
    for slot in [2, 5, 1, 2] { order.append(slot) }

    #expect(order.sorted([1, 2, 3, 4, 5]) == [3, 4, 5, 1, 2])
  }

  @Test(arguments: [100: 100, 4599: 4599, 4600: 0, 4601: 0, UInt32.max: 0] as [UInt32: UInt32])
  func `A last use in the far future comes first`(time: UInt32, rank: UInt32) {
    #expect(EvictionOrder.rank(time, now: 999) == rank)
  }
}
