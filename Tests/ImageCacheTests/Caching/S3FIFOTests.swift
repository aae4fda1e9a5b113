import TestSupport
import Testing

@testable import ImageCache

@Suite("S3FIFO")
struct S3FIFOTests {
  /// The policy as described in its paper, on plain arrays with the oldest item first: slow but easy to verify by eye.
  private struct Model {
    struct Item { var key, cost, frequency: Int }
    let limit: Int
    var small: [Item] = []
    var main: [Item] = []
    var ghost: [(key: Int, cost: Int, isLive: Bool)] = []

    var cost: Int { (small + main).reduce(0) { $0 + $1.cost } }
    var keys: Set<Int> { Set((small + main).map(\.key)) }

    mutating func hit(_ key: Int) -> Bool {
      if let index = small.firstIndex(where: { $0.key == key }) {
        small[index].frequency = min(3, small[index].frequency + 1)
      } else if let index = main.firstIndex(where: { $0.key == key }) {
        main[index].frequency = min(3, main[index].frequency + 1)
      } else {
        return false
      }
      return true
    }

    mutating func insert(_ key: Int, cost: Int) {
      guard cost <= limit / 8 else { return remove(key) }
      if let index = small.firstIndex(where: { $0.key == key }) {
        small[index].cost = cost
      } else if let index = main.firstIndex(where: { $0.key == key }) {
        main[index].cost = cost
      } else {
        let ghostIndex = ghost.firstIndex { $0.key == key && $0.isLive }
        if let ghostIndex { ghost[ghostIndex].isLive = false }
        let item = Item(key: key, cost: cost, frequency: 0)
        if ghostIndex != nil || cost > limit / 10 { main.append(item) } else { small.append(item) }
      }
      while self.cost > limit { evict() }
    }

    mutating func remove(_ key: Int) {
      small.removeAll { $0.key == key }
      main.removeAll { $0.key == key }
    }

    private mutating func evict() {
      if small.reduce(0, { $0 + $1.cost }) > limit / 10 || main.isEmpty {
        let item = small.removeFirst()
        if item.frequency >= 2 {
          main.append(Item(key: item.key, cost: item.cost, frequency: 0))
        } else {
          for index in ghost.indices where ghost[index].key == item.key { ghost[index].isLive = false }
          ghost.append((item.key, item.cost, true))
          while ghost.reduce(0, { $0 + $1.cost }) > limit - limit / 10 { ghost.removeFirst() }
        }
      } else {
        let item = main.removeFirst()
        if item.frequency >= 1 { main.append(Item(key: item.key, cost: item.cost, frequency: item.frequency - 1)) }
      }
    }
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
  func `A random trace gives the same hits as the reference model`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let limit = Int.random(in: 100...600, using: &generator)
    var policy = S3FIFO<Int, Int>(costLimit: limit)
    var model = Model(limit: limit)
    var (hits, evicted): (Int, [Int]) = (0, [])
    for _ in 0..<6000 {
      // The product of two random numbers favors small ones, so that some keys are hot.
      let key = Int(
        Double(limit) * Double.random(in: 0..<1, using: &generator) * Double.random(in: 0..<1, using: &generator))
      if Int.random(in: 0..<50, using: &generator) == 0 {
        let removed = policy.remove(key)
        #expect((removed != nil) == model.keys.contains(key))
        model.remove(key)
        continue
      }
      let hit = policy.value(for: key)
      let modelHit = model.hit(key)
      #expect((hit != nil) == modelHit)
      hits += hit == nil ? 0 : 1
      guard hit == nil || Int.random(in: 0..<20, using: &generator) == 0 else { continue }
      let cost = Int.random(in: 1...(limit / 7), using: &generator)
      _ = policy.insert(key, for: key, cost: cost, evicted: &evicted)
      model.insert(key, cost: cost)
      #expect(policy.cost == model.cost)
      #expect(policy.count == model.keys.count)
      #expect(policy.cost <= limit)
    }

    #expect(hits > 200)
  }

  @Test func `A scan of ten times the capacity leaves the hot set in the cache`() {
    var policy = S3FIFO<Int, Int>(costLimit: 10_000)
    var (evicted, hits, lookups): ([Int], Int, Int) = ([], 0, 0)
    func use(_ key: Int) {
      if policy.value(for: key) == nil { _ = policy.insert(key, for: key, cost: 10, evicted: &evicted) }
    }
    for _ in 0..<5 { for key in 0..<100 { use(key) } }
    for scan in 0..<10_000 {
      use(1_000_000 + scan)
      guard scan % 10 == 0 else { continue }
      let hot = scan / 10 % 100
      lookups += 1
      if policy.value(for: hot) == nil { use(hot) } else { hits += 1 }
    }

    #expect(Double(hits) / Double(lookups) > 0.9)
  }

  @Test func `A value above an eighth of the limit is refused, and the older value is removed`() {
    var policy = S3FIFO<Int, String>(costLimit: 800)
    var evicted: [String] = []
    let small = policy.insert("small", for: 1, cost: 100, evicted: &evicted)
    let large = policy.insert("large", for: 1, cost: 101, evicted: &evicted)

    #expect([small, large] == [.inserted, .refused])
    #expect(policy.count == 0)
    #expect(evicted == ["small"])
    #expect(policy.cost == 0)
  }

  @Test func `Replacing a value returns the old one and updates the cost`() {
    var policy = S3FIFO<Int, String>(costLimit: 800)
    var evicted: [String] = []
    _ = policy.insert("old", for: 1, cost: 100, evicted: &evicted)
    let insertion = policy.insert("new", for: 1, cost: 40, evicted: &evicted)
    let value = policy.value(for: 1)

    #expect(insertion == .replaced)
    #expect(value == "new")
    #expect((policy.cost, policy.count, evicted) == (40, 1, ["old"]))
  }

  @Test func `The number of remembered keys is bounded`() {
    var ghosts = GhostList<Int>(costLimit: 100)
    for key in 0..<1000 { ghosts.insert(key, cost: 10) }
    #expect(ghosts.count == 10)

    let recalled = [999, 999, 990, 989].map { ghosts.recall($0) }
    #expect(recalled == [true, false, true, false])
  }
}
