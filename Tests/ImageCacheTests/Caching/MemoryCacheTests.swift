import Dispatch
import Testing

@testable import ImageCache

@Suite("MemoryCache: values for many threads")
struct MemoryCacheTests {
  @Test("Many threads keep the limit, and get what was stored under the key")
  func manyThreads() {
    let cache = MemoryCache<Int, [Int]>(costLimit: 1000)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      var generator = SplitMix(state: UInt64(thread))
      for _ in 0..<5000 {
        let key = Int.random(in: 0..<300, using: &generator)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: cache.remove(key)
        case 1...4: cache.insert([key], for: key, cost: Int.random(in: 1...130, using: &generator))
        default: if let value = cache.value(for: key) { #expect(value == [key]) }
        }
      }
    }
    #expect(cache.usage.cost <= 1000)
    #expect(cache.usage.count > 0)
  }

  /// Looks into the cache while it goes away, which would never return if the cache's lock were still held.
  private final class Curious: Sendable {
    let cache: MemoryCache<Int, Curious>
    init(_ cache: MemoryCache<Int, Curious>) { self.cache = cache }
    deinit { _ = cache.usage }
  }

  @Test("Values are let go outside the lock")
  func valuesLeaveOutsideTheLock() {
    let cache = MemoryCache<Int, Curious>(costLimit: 100)
    for key in 0..<50 { cache.insert(Curious(cache), for: key % 7, cost: 10) }
    cache.insert(Curious(cache), for: 1, cost: 99)
    for key in 0..<50 { cache.remove(key) }
    #expect(cache.usage.count == 0)
  }

  @Test("A cache without room keeps nothing")
  func noRoom() {
    let cache = MemoryCache<Int, Int>(costLimit: 0)
    #expect(!cache.insert(1, for: 1, cost: 1))
    #expect(cache.value(for: 1) == nil)
  }
}
