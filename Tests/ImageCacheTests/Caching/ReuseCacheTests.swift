import TestSupport
import Testing

@testable import ImageCache

@Suite("The values that a full memory cache keeps")
struct ReuseCacheTests {
  /// The same rules on plain arrays with the oldest item first: slow but easy to verify by eye.
  private struct Model {
    struct Item { var key, cost, lastUse, queued: Int, isFirst: Bool }
    let limit: Int
    var items: [Item] = []
    var ghosts: [(key: Int, use: ReusePolicy.Use)] = []
    var policy: ReusePolicy?

    var cost: Int { items.reduce(0) { $0 + $1.cost } }
    var epoch: Int { policy?.start ?? 0 }

    mutating func note(_ use: ReusePolicy.Use?) {
      let before = epoch
      policy?.beginEpochIfDue(isNewRun: false, at: before)
      let now = epoch
      policy?.note(use, at: now)
    }

    mutating func hit(_ key: Int) -> Bool {
      guard let index = items.firstIndex(where: { $0.key == key }) else { return false }
      if items[index].lastUse != epoch {
        note(.init(time: items[index].lastUse, isFirst: items[index].isFirst))
        (items[index].lastUse, items[index].isFirst) = (epoch, false)
      }
      return true
    }

    mutating func insert(_ key: Int, cost: Int) {
      guard cost <= limit / 8 else { return remove(key) }
      if let index = items.firstIndex(where: { $0.key == key }) {
        items[index].cost = cost
      } else {
        let last = ghosts.last { $0.key == key }?.use
        if policy != nil { note(last) }
        if let policy, self.cost + cost > limit, !policy.admits(last, inPlaceOf: oldest(), at: epoch) {
          return remember(key, .init(time: epoch, isFirst: last == nil))
        }
        if last != nil { policy?.countGhosts(-1) }
        ghosts.removeAll { $0.key == key }
        items.append(Item(key: key, cost: cost, lastUse: epoch, queued: epoch, isFirst: last == nil))
      }
      while self.cost > limit {
        _ = oldest()
        let item = items.removeFirst()
        remember(item.key, .init(time: item.lastUse, isFirst: item.isFirst))
      }
      if policy == nil, self.cost * 2 >= limit { policy = ReusePolicy(kept: items.count) }
    }

    mutating func remove(_ key: Int) {
      let now = epoch
      for item in items where item.key == key { policy?.forget(item.lastUse, at: now) }
      items.removeAll { $0.key == key }
    }

    private mutating func oldest() -> Int {
      while items[0].lastUse > items[0].queued {
        var item = items.removeFirst()
        item.queued = item.lastUse
        items.append(item)
      }
      return items[0].lastUse
    }

    private mutating func remember(_ key: Int, _ use: ReusePolicy.Use) {
      if !ghosts.contains(where: { $0.key == key }) { policy?.countGhosts(1) }
      ghosts.removeAll { $0.key == key }
      ghosts.append((key, use))
      while ghosts.count > max(64, 4 * items.count) {
        let now = epoch
        policy?.forget(ghosts.removeFirst().use.time, at: now)
        policy?.countGhosts(-1)
      }
    }
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
  func `A random trace gives the same hits as the reference model`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let limit = Int.random(in: 100...600, using: &generator)
    var cache = ReuseCache<Int, Int>(costLimit: limit)
    var model = Model(limit: limit)
    var (hits, evicted): (Int, [Int]) = (0, [])
    for _ in 0..<6000 {
      // The product of two random numbers favors small ones, so that some keys are hot.
      let key = Int(
        Double(limit) * Double.random(in: 0..<1, using: &generator) * Double.random(in: 0..<1, using: &generator))
      if Int.random(in: 0..<50, using: &generator) == 0 {
        let removed = cache.remove(key)
        #expect((removed != nil) == model.items.contains { $0.key == key })
        model.remove(key)
        continue
      }
      let hit = cache.value(for: key)
      let modelHit = model.hit(key)
      #expect((hit != nil) == modelHit)
      hits += hit == nil ? 0 : 1
      guard hit == nil || Int.random(in: 0..<20, using: &generator) == 0 else { continue }
      let cost = Int.random(in: 1...(limit / 7), using: &generator)
      _ = cache.insert(key, for: key, cost: cost, evicted: &evicted)
      model.insert(key, cost: cost)
      #expect(cache.cost == model.cost)
      #expect(cache.count == model.items.count)
      #expect(cache.cost <= limit)
    }

    #expect(hits > 200)
  }

  @Test(arguments: NightlyLists.allCases, [80, 50, 25])
  func `Lists that come back have nine tenths of the hits of a fixed subset`(lists: NightlyLists, part: Int) {
    var cache = ReuseCache<Int, Int>(costLimit: 20 * part, largestCost: 1)
    let nights = lists.nights(8)
    var evicted: [Int] = []
    let hits = nights.map { list in
      list.count { key in
        if cache.value(for: key) != nil { return true }
        _ = cache.insert(key, for: key, cost: 1, evicted: &evicted)
        return false
      }
    }
    let fixed = NightlyLists.fixedHits(nights, capacity: 20 * part)
    // Nothing marks a night here. Then the third night with another list is the first with its share.
    let allowed = lists == .changed ? Array(fixed[..<3]) + [0, 0] + fixed[..<4].suffix(3) : fixed
    // The images that come back by chance may not be those that were kept.
    let part = lists == .half ? 85 : 90
    for (hits, fixed) in zip(hits, allowed).dropFirst(2) { #expect(hits * 100 >= fixed * part) }
    #expect(hits.reduce(0, +) * 100 >= allowed.reduce(0, +) * 90)
  }

  @Test func `New values that are used for a while replace the old ones`() {
    var cache = ReuseCache<Int, Int>(costLimit: 1000, largestCost: 1)
    var (evicted, hits): ([Int], Int) = ([], 0)
    // Each value is used four times within 400 requests, and never again.
    for step in 0..<20_000 {
      for key in [step, step - 30, step - 70, step - 100] where key >= 0 {
        if cache.value(for: key) != nil {
          hits += 1
        } else {
          _ = cache.insert(key, for: key, cost: 1, evicted: &evicted)
        }
      }
    }

    #expect(hits > 20_000 * 3 * 9 / 10)
  }

  @Test func `A scan of ten times the capacity leaves the hot set in the cache`() {
    var cache = ReuseCache<Int, Int>(costLimit: 10_000)
    var (evicted, hits, lookups): ([Int], Int, Int) = ([], 0, 0)
    func use(_ key: Int) {
      if cache.value(for: key) == nil { _ = cache.insert(key, for: key, cost: 10, evicted: &evicted) }
    }
    for _ in 0..<5 { for key in 0..<100 { use(key) } }
    for scan in 0..<10_000 {
      use(1_000_000 + scan)
      guard scan % 10 == 0 else { continue }
      let hot = scan / 10 % 100
      lookups += 1
      if cache.value(for: hot) == nil { use(hot) } else { hits += 1 }
    }

    // Each of the hundred may be lost once, before the cache knows that it comes back.
    #expect(lookups == 1000 && hits > 850)
  }

  @Test func `A value above an eighth of the limit is refused, and the older value is removed`() {
    var cache = ReuseCache<Int, String>(costLimit: 800)
    var evicted: [String] = []
    let small = cache.insert("small", for: 1, cost: 100, evicted: &evicted)
    let large = cache.insert("large", for: 1, cost: 101, evicted: &evicted)

    #expect([small, large] == [.inserted, .refused])
    #expect(cache.count == 0)
    #expect(evicted == ["small"])
    #expect(cache.cost == 0)
  }

  @Test func `Replacing a value returns the old one and updates the cost`() {
    var cache = ReuseCache<Int, String>(costLimit: 800)
    var evicted: [String] = []
    _ = cache.insert("old", for: 1, cost: 100, evicted: &evicted)
    let insertion = cache.insert("new", for: 1, cost: 40, evicted: &evicted)
    let value = cache.value(for: 1)

    #expect(insertion == .replaced)
    #expect(value == "new")
    #expect((cache.cost, cache.count, evicted) == (40, 1, ["old"]))
  }

  @Test func `The number of remembered keys is bounded`() {
    var ghosts = GhostList<Int>()
    for key in 0..<1000 {
      _ = ghosts.insert(key, .init(time: key, isFirst: true))
      while ghosts.removeOldest(above: 25) != nil {}
    }
    #expect(ghosts.count == 100 && ghosts[999] == .init(time: 999, isFirst: true) && ghosts[899] == nil)

    let removed = [999, 999, 990].map { ghosts.remove($0) }
    #expect(removed == [true, false, true])
  }
}
