/// The S3-FIFO eviction policy (Yang et al., SOSP 2023) with its values, bounded by cost. A plain value.
///
/// New keys pass through a small queue, a tenth of the limit. Values used twice there move to the main queue; the
/// others are evicted, and only their keys are remembered. A key that returns while remembered goes straight to the
/// main queue. Thus a scan of any length flushes only the small queue. A hit increments one counter and moves
/// nothing.
struct S3FIFO<Key: ScatteredKey, Value> {
  /// The result of an insertion.
  enum Insertion: Hashable {
    case inserted
    case replaced
    /// The value costs more than ``largestCost``. An older value of the key is removed.
    case refused
  }

  private enum Queue { case small, main }

  private struct Slot {
    var key: Key
    var value: Value
    var cost: Int
    var queue: Queue
  }

  /// The maximum total cost of all values.
  let costLimit: Int
  /// The maximum cost of one value.
  let largestCost: Int
  private let smallLimit: Int
  private var index = SlotIndex()
  private var slots: [Slot?] = []
  /// The number of uses of each slot, at most 3. Kept in a separate array, so that a hit writes a single byte.
  private var frequencies: [UInt8] = []
  private var links: [SlotQueue.Links] = []
  private var freeSlots: [Int32] = []
  private var small = SlotQueue()
  private var main = SlotQueue()
  private var ghosts: GhostList<Key>

  /// Creates an empty cache that refuses values above `largestCost`. Default: an eighth of the limit.
  init(costLimit: Int, largestCost: Int? = nil) {
    self.costLimit = costLimit
    self.largestCost = largestCost ?? costLimit / 8
    smallLimit = costLimit / 10
    ghosts = GhostList(costLimit: costLimit - costLimit / 10)
  }

  /// The total cost of all values, never above the limit.
  var cost: Int { small.cost + main.cost }
  /// The number of values.
  var count: Int { index.count }

  /// Returns the value of `key` and increments its use counter, up to 3.
  mutating func value(for key: Key) -> Value? {
    guard let slot = slot(of: key).map(Int.init) else { return nil }
    if frequencies[slot] < 3 { frequencies[slot] += 1 }
    return slots[slot]?.value
  }

  /// Stores `value`. Values that were evicted or replaced are appended to `evicted`, so that the caller can release
  /// them outside its lock.
  ///
  /// - Parameter cost: At least 1, so that every value can be evicted in the end.
  mutating func insert(_ value: Value, for key: Key, cost: Int, evicted: inout [Value]) -> Insertion {
    guard cost <= largestCost else {
      if let old = remove(key) { evicted.append(old) }
      return .refused
    }
    if let slot = slot(of: key) {
      replace(slot, with: value, cost: cost, evicted: &evicted)
      makeRoom(evicted: &evicted)
      return .replaced
    }
    // The small queue could not hold a value above its own limit long enough for a second use.
    let queue: Queue = ghosts.recall(key) || cost > smallLimit ? .main : .small
    let slot = take(Slot(key: key, value: value, cost: cost, queue: queue))
    index.insert(slot, for: key.scatteredBits)
    append(slot, to: queue, cost: cost)
    makeRoom(evicted: &evicted)
    return .inserted
  }

  /// Removes and returns the value of `key`.
  mutating func remove(_ key: Key) -> Value? {
    guard let slot = slot(of: key), let content = slots[Int(slot)] else { return nil }
    removeFromIndex(slot, key)
    dequeue(slot, content)
    release(slot)
    return content.value
  }

  private func slot(of key: Key) -> Int32? {
    index.slot(of: key.scatteredBits) { slots[Int($0)]?.key == key }
  }

  private mutating func removeFromIndex(_ slot: Int32, _ key: Key) {
    index.remove(key.scatteredBits) { $0 == slot }
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

  /// Moves the oldest value of the small queue to the main queue if it was used twice, and evicts it otherwise.
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
      removeFromIndex(slot, content.key)
      evicted.append(content.value)
      release(slot)
    }
  }

  /// Requeues the oldest value of the main queue with one use less if it was used, and evicts it otherwise.
  private mutating func evictFromMain(_ evicted: inout [Value]) {
    let slot = main.oldest
    guard let content = slots[Int(slot)] else { return }
    main.remove(slot, cost: content.cost, in: &links)
    if frequencies[Int(slot)] >= 1 {
      frequencies[Int(slot)] -= 1
      append(slot, to: .main, cost: content.cost)
    } else {
      removeFromIndex(slot, content.key)
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
