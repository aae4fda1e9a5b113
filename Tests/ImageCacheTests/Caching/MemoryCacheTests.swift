import Dispatch
import Testing

@testable import ImageCache

@Suite("MemoryCache: values for many threads")
struct MemoryCacheTests {
  private struct Key: ScatteredKey, ExpressibleByIntegerLiteral {
    let number: Int
    var scatteredBits: UInt64 { UInt64(number) }

    init(integerLiteral number: Int) { self.number = number }
    init(_ number: Int) { self.number = number }
  }

  @Test("Many threads keep the limit, and get what was stored under the key")
  func manyThreads() {
    let cache = MemoryCache<Key, [Int]>(costLimit: 1000)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      var generator = SplitMix(state: UInt64(thread))
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

  /// Looks into the cache while it goes away, which would never return if the cache's lock were still held.
  private final class Curious: Sendable {
    let cache: MemoryCache<Key, Curious>
    init(_ cache: MemoryCache<Key, Curious>) { self.cache = cache }
    deinit { _ = cache.usage }
  }

  @Test("Values are let go outside the lock")
  func valuesLeaveOutsideTheLock() {
    let cache = MemoryCache<Key, Curious>(costLimit: 100)
    for key in 0..<50 { cache.insert(Curious(cache), for: Key(key % 7), cost: 10) }
    cache.insert(Curious(cache), for: 1, cost: 99)
    for key in 0..<50 { cache.remove(Key(key)) }
    #expect(cache.usage.count == 0)
  }

  @Test("The shards of a large cache keep its limit together, and none is left idle")
  func shards() {
    let cache = MemoryCache<SourceKey, Int>(costLimit: 4 << 20)
    let keys = (0..<3600).map { SourceKey(url: "\($0)") }
    for (number, key) in keys.enumerated() { cache.insert(number, for: key, cost: 1000) }
    #expect(cache.usage.count == 3600)
    for (number, key) in keys.enumerated() { #expect(cache.value(for: key) == number) }
    for number in 0..<9000 { cache.insert(number, for: SourceKey(url: "more \(number)"), cost: 1000) }
    #expect((4 << 20) - 4000...4 << 20 ~= cache.usage.cost)
  }

  @Test("A cache without room keeps nothing")
  func noRoom() {
    let cache = MemoryCache<Key, Int>(costLimit: 0)
    #expect(!cache.insert(1, for: 1, cost: 1))
    #expect(cache.value(for: 1) == nil)
  }
}
