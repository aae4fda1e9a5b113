import Dispatch
import TestSupport
import Testing

@testable import ImageCache

@Suite("MemoryCache")
struct MemoryCacheTests {
  private struct Key: ScatteredKey, ExpressibleByIntegerLiteral {
    let number: Int
    var scatteredBits: UInt64 { UInt64(number) }

    init(integerLiteral number: Int) { self.number = number }
    init(_ number: Int) { self.number = number }
  }

  @Test func `Concurrent threads keep to the limit and get the values stored under their keys`() {
    let cache = MemoryCache<Key, [Int]>(costLimit: 1000)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      var generator = SeededGenerator(seed: UInt64(thread))
      for _ in 0..<5000 {
        let number = Int.random(in: 0..<300, using: &generator)
        let key = Key(number)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: cache.remove(key)
        case 1...4: cache.insert([number], for: key, cost: Int.random(in: 1...130, using: &generator))
        default: if let value = cache.value(for: key) { #expect(value == [number]) }
        }
      }
    }

    #expect(cache.usage.cost <= 1000)
    #expect(cache.usage.count > 0)
  }

  @Test func `Only values that make room for others count as evicted`() {
    let evictions = Recorder<Int>()
    let cache = MemoryCache<Key, Int>(costLimit: 85) { evictions.record($0) }
    cache.insert(1, for: 1, cost: 10)
    cache.insert(2, for: 1, cost: 10)
    cache.insert(3, for: 1, cost: 11)
    cache.remove(1)
    #expect(evictions.values.isEmpty)

    // Nine values fit, and others are declined.
    for number in 2..<20 { cache.insert(number, for: Key(number), cost: 9) }
    #expect(evictions.values.isEmpty && cache.usage.count == 9)
    // The fifth value that grows needs the room of another.
    for number in 6..<11 { cache.insert(number, for: Key(number), cost: 10) }
    #expect(evictions.values == [1])
  }

  /// Reads the cache on deinitialization, which would deadlock if the lock of the cache were still held.
  private final class Curious: Sendable {
    let cache: MemoryCache<Key, Curious>
    init(_ cache: MemoryCache<Key, Curious>) { self.cache = cache }
    deinit { _ = cache.usage }
  }

  @Test func `Values are released outside the lock`() {
    let cache = MemoryCache<Key, Curious>(costLimit: 100)
    for key in 0..<50 { cache.insert(Curious(cache), for: Key(key % 7), cost: 10) }
    cache.insert(Curious(cache), for: 1, cost: 99)
    for key in 0..<50 { cache.remove(Key(key)) }

    #expect(cache.usage.count == 0)
  }

  @Test func `The shards of a large cache share its limit and are all used`() {
    let cache = MemoryCache<SourceKey, Int>(costLimit: 4 << 20)
    let keys = (0..<3600).map { SourceKey(url: "\($0)") }
    for (number, key) in keys.enumerated() { cache.insert(number, for: key, cost: 1000) }

    #expect(cache.usage.count == 3600)
    for (number, key) in keys.enumerated() { #expect(cache.value(for: key) == number) }

    for number in 0..<9000 { cache.insert(number, for: SourceKey(url: "more \(number)"), cost: 1000) }
    #expect((4 << 20) - 4000...4 << 20 ~= cache.usage.cost)
  }

  @Test func `A cache with a limit of zero keeps nothing`() {
    let cache = MemoryCache<Key, Int>(costLimit: 0)
    #expect(!cache.insert(1, for: 1, cost: 1))
    #expect(cache.value(for: 1) == nil)
  }
}
