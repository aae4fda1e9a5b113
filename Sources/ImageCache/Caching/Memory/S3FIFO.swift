/// The S3-FIFO replacement policy (Yang et al., SOSP 2023) with its values, bounded by cost: a plain value.
///
/// New keys pass through a small queue, a tenth of the limit; those used twice there move on to the main queue, the
/// others leave only their key behind. Keys that come back while remembered go straight to the main queue. So a scan
/// of any length flushes the small queue alone. A hit raises one counter and moves nothing.
struct S3FIFO<Key: Hashable, Value> {
  /// What became of an insertion.
  enum Insertion: Hashable {
    case inserted
    case replaced
    /// The value costs more than ``largestCost``; what was stored under the key is gone.
    case refused
  }

  private enum Queue { case small, main }

  private struct Slot {
    var key: Key
    var value: Value
    var cost: Int
    var queue: Queue
  }

  /// The most all values together may cost.
  let costLimit: Int
  /// The largest cost of one value.
  let largestCost: Int
  private let smallLimit: Int
  private var slotNumbers: [Key: Int32] = [:]
  private var slots: [Slot?] = []
  /// How often what a slot holds was used, 3 at most. By itself, so that a hit writes one byte and nothing else.
  private var frequencies: [UInt8] = []
  private var links: [SlotQueue.Links] = []
  private var freeSlots: [Int32] = []
  private var small = SlotQueue()
  private var main = SlotQueue()
  private var ghosts: GhostList<Key>

  /// An empty cache. Values that cost more than `largestCost`, an eighth of the limit by default, are refused.
  init(costLimit: Int, largestCost: Int? = nil) {
    self.costLimit = costLimit
    self.largestCost = largestCost ?? costLimit / 8
    smallLimit = costLimit / 10
    ghosts = GhostList(costLimit: costLimit - costLimit / 10)
  }

  /// The sum of the costs, never above the limit.
  var cost: Int { small.cost + main.cost }
  /// The number of values.
  var count: Int { slotNumbers.count }

  /// The value of `key`, whose counter rises to 3 at most.
  mutating func value(for key: Key) -> Value? {
    guard let slot = slotNumbers[key].map(Int.init) else { return nil }
    if frequencies[slot] < 3 { frequencies[slot] += 1 }
    return slots[slot]?.value
  }

  /// Stores `value`. What had to go, a replaced value included, is appended to `evicted` for the caller to drop.
  ///
  /// - Parameter cost: At least 1, so that nothing stays for ever for free.
  mutating func insert(_ value: Value, for key: Key, cost: Int, evicted: inout [Value]) -> Insertion {
    guard cost <= largestCost else {
      if let old = remove(key) { evicted.append(old) }
      return .refused
    }
    if let slot = slotNumbers[key] {
      replace(slot, with: value, cost: cost, evicted: &evicted)
      makeRoom(evicted: &evicted)
      return .replaced
    }
    // The small queue could not hold a value above its own limit for long enough to see a second use.
    let queue: Queue = ghosts.recall(key) || cost > smallLimit ? .main : .small
    let slot = take(Slot(key: key, value: value, cost: cost, queue: queue))
    slotNumbers[key] = slot
    append(slot, to: queue, cost: cost)
    makeRoom(evicted: &evicted)
    return .inserted
  }

  /// Takes the value of `key` out.
  mutating func remove(_ key: Key) -> Value? {
    guard let slot = slotNumbers.removeValue(forKey: key), let content = slots[Int(slot)] else { return nil }
    dequeue(slot, content)
    release(slot)
    return content.value
  }

  private mutating func replace(_ slot: Int32, with value: Value, cost: Int, evicted: inout [Value]) {
    guard let old = slots[Int(slot)] else { return }
    evicted.append(old.value)
    slots[Int(slot)]?.value = value
    slots[Int(slot)]?.cost = cost
    switch old.queue {
    case .small: small.adjustCost(by: cost - old.cost)
    case .main: main.adjustCost(by: cost - old.cost)
    }
  }

  private mutating func makeRoom(evicted: inout [Value]) {
    while cost > costLimit {
      if small.cost > smallLimit || main.oldest == SlotQueue.none {
        evictFromSmall(&evicted)
      } else {
        evictFromMain(&evicted)
      }
    }
  }

  /// The oldest of the small queue moves on to the main one if it was used twice, else it goes.
  private mutating func evictFromSmall(_ evicted: inout [Value]) {
    let slot = small.oldest
    guard let content = slots[Int(slot)] else { return }
    small.remove(slot, cost: content.cost, in: &links)
    if frequencies[Int(slot)] >= 2 {
      slots[Int(slot)]?.queue = .main
      frequencies[Int(slot)] = 0
      append(slot, to: .main, cost: content.cost)
    } else {
      ghosts.insert(content.key, cost: content.cost)
      slotNumbers[content.key] = nil
      evicted.append(content.value)
      release(slot)
    }
  }

  /// The oldest of the main queue starts over if it was used since, one use poorer, else it goes.
  private mutating func evictFromMain(_ evicted: inout [Value]) {
    let slot = main.oldest
    guard let content = slots[Int(slot)] else { return }
    main.remove(slot, cost: content.cost, in: &links)
    if frequencies[Int(slot)] >= 1 {
      frequencies[Int(slot)] -= 1
      append(slot, to: .main, cost: content.cost)
    } else {
      slotNumbers[content.key] = nil
      evicted.append(content.value)
      release(slot)
    }
  }

  private mutating func append(_ slot: Int32, to queue: Queue, cost: Int) {
    switch queue {
    case .small: small.append(slot, cost: cost, in: &links)
    case .main: main.append(slot, cost: cost, in: &links)
    }
  }

  private mutating func dequeue(_ slot: Int32, _ content: Slot) {
    switch content.queue {
    case .small: small.remove(slot, cost: content.cost, in: &links)
    case .main: main.remove(slot, cost: content.cost, in: &links)
    }
  }

  private mutating func take(_ content: Slot) -> Int32 {
    if let slot = freeSlots.popLast() {
      slots[Int(slot)] = content
      frequencies[Int(slot)] = 0
      return slot
    }
    slots.append(content)
    frequencies.append(0)
    links.append(SlotQueue.Links())
    return Int32(slots.count - 1)
  }

  private mutating func release(_ slot: Int32) {
    slots[Int(slot)] = nil
    freeSlots.append(slot)
  }
}
