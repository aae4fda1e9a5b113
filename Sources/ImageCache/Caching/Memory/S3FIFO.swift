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

/// A hash table from keys to slot numbers, for keys with scattered bits. A plain value.
///
/// It does not store the keys, which the owner has in its slots: a place takes 8 bytes, so that a lookup usually reads
/// one line of the processor's cache. The owner distinguishes keys that share a hash.
struct SlotIndex {
  private struct Place {
    var hash: UInt32
    var slot: Int32
  }

  /// The number of places is a power of two. At least half of them are free, so that runs of used places stay short.
  private var places = [Place](repeating: Place(hash: 0, slot: SlotQueue.none), count: 16)
  private(set) var count = 0

  private var mask: Int { places.count - 1 }

  /// Returns the slot of a key; nil if there is none.
  ///
  /// - Parameters:
  ///   - bits: The scattered bits of the key.
  ///   - matches: Returns true if a slot, whose key has the same hash, is that of the key.
  func slot(of bits: UInt64, where matches: (Int32) -> Bool) -> Int32? {
    position(of: bits, where: matches).map { places[$0].slot }
  }

  /// Adds a slot for a key that has none.
  mutating func insert(_ slot: Int32, for bits: UInt64) {
    if (count + 1) * 2 > places.count { grow() }
    put(Place(hash: Self.hash(bits), slot: slot))
    count += 1
  }

  /// Removes and returns the slot of a key; nil if there is none. `matches` is as for ``slot(of:where:)``.
  @discardableResult
  mutating func remove(_ bits: UInt64, where matches: (Int32) -> Bool) -> Int32? {
    guard var hole = position(of: bits, where: matches) else { return nil }
    let slot = places[hole].slot
    var next = (hole + 1) & mask
    // Moves later places of the run back, so that a lookup may stop at the first free place.
    while places[next].slot != SlotQueue.none {
      if distance(to: next) >= (next - hole) & mask {
        places[hole] = places[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    places[hole].slot = SlotQueue.none
    count -= 1
    return slot
  }

  /// The high bits, because shards are selected by the low ones.
  private static func hash(_ bits: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: bits >> 32) }

  private func position(of bits: UInt64, where matches: (Int32) -> Bool) -> Int? {
    let hash = Self.hash(bits)
    var position = Int(hash) & mask
    while places[position].slot != SlotQueue.none {
      if places[position].hash == hash, matches(places[position].slot) { return position }
      position = (position + 1) & mask
    }
    return nil
  }

  /// The number of places between `position` and the one where its key belongs.
  private func distance(to position: Int) -> Int { (position - Int(places[position].hash)) & mask }

  private mutating func put(_ place: Place) {
    var position = Int(place.hash) & mask
    while places[position].slot != SlotQueue.none { position = (position + 1) & mask }
    places[position] = place
  }

  private mutating func grow() {
    let old = places
    places = Array(repeating: Place(hash: 0, slot: SlotQueue.none), count: old.count * 2)
    for place in old where place.slot != SlotQueue.none { put(place) }
  }
}

/// An unbounded first-in, first-out queue of slot numbers. Any slot can be removed from the middle in O(1).
///
/// The links are in an array indexed by slot, which both queues of ``S3FIFO`` share, because a slot is in at most one
/// queue.
private struct SlotQueue {
  /// The neighbors of a queued slot.
  struct Links {
    var older: Int32 = none
    var newer: Int32 = none
  }

  static let none: Int32 = -1

  /// The total cost of the queued slots, as passed in by the owner.
  private(set) var cost = 0
  private(set) var oldest: Int32 = none
  private var newest: Int32 = none

  /// Appends `slot` as the newest.
  mutating func append(_ slot: Int32, cost: Int, in links: inout [Links]) {
    links[Int(slot)] = Links(older: newest, newer: Self.none)
    if newest == Self.none { oldest = slot } else { links[Int(newest)].newer = slot }
    newest = slot
    self.cost += cost
  }

  /// Removes `slot`, which must be in this queue.
  mutating func remove(_ slot: Int32, cost: Int, in links: inout [Links]) {
    let (older, newer) = (links[Int(slot)].older, links[Int(slot)].newer)
    if older == Self.none { oldest = newer } else { links[Int(older)].newer = newer }
    if newer == Self.none { newest = older } else { links[Int(newer)].older = older }
    self.cost -= cost
  }

  /// Adjusts the total cost after the cost of a queued slot changed by `difference`.
  mutating func adjustCost(by difference: Int) { cost += difference }
}

/// The keys of recently evicted values, without the values. A key that returns while listed was evicted too early.
///
/// Bounded by the total cost of the evicted values.
struct GhostList<Key: Hashable> {
  private struct Ghost {
    var key: Key
    var cost: Int
    var number: Int
  }

  private let costLimit: Int
  private var cost = 0
  private var numbers: [Key: Int] = [:]
  /// Oldest first. A ghost whose number differs from the one in `numbers` has been recalled or evicted again since.
  private var ghosts: [Ghost] = []
  private var firstGhost = 0
  private var nextNumber = 0

  init(costLimit: Int) { self.costLimit = costLimit }

  var count: Int { numbers.count }

  /// Records that `key` was evicted, and drops the oldest ghosts beyond the limit.
  mutating func insert(_ key: Key, cost: Int) {
    numbers[key] = nextNumber
    ghosts.append(Ghost(key: key, cost: cost, number: nextNumber))
    nextNumber += 1
    self.cost += cost
    while self.cost > costLimit { forgetOldest() }
  }

  /// Removes `key`; returns true if it was listed.
  mutating func recall(_ key: Key) -> Bool { numbers.removeValue(forKey: key) != nil }

  private mutating func forgetOldest() {
    let ghost = ghosts[firstGhost]
    firstGhost += 1
    cost -= ghost.cost
    if numbers[ghost.key] == ghost.number { numbers[ghost.key] = nil }
    // Half of the array is unused. Moving the rest down at this point costs one step per ghost.
    if firstGhost * 2 > ghosts.count {
      ghosts.removeFirst(firstGhost)
      firstGhost = 0
    }
  }
}
