/// Values bounded by cost, kept as ``ReusePolicy`` decides. A plain value.
///
/// Values stand in a queue in the order of their uses, accurate to an epoch: a hit only notes the epoch, and a value
/// that was used moves to the end of the queue when it reaches the front. A full cache declines values that are less
/// likely to be used again than the one at the front, so a scan of any length, or a loop over more values than fit,
/// leaves the rest in place.
struct ReuseCache<Key: ScatteredKey, Value> {
  /// The result of an insertion.
  enum Insertion: Hashable {
    case inserted
    case replaced
    /// The cache is full of values that are more likely to be used again.
    case declined
    /// The value costs more than ``largestCost``. An older value of the key is removed.
    case refused
  }

  private struct Slot {
    var key: Key
    var value: Value
    var cost: Int
    /// The epoch in which the value was put at the end of the queue.
    var queued: UInt32
    /// True if the value was used in one epoch only.
    var isFirst: Bool
  }

  /// The maximum total cost of all values.
  let costLimit: Int
  /// The maximum cost of one value.
  let largestCost: Int
  private var index = SlotIndex()
  private var slots: [Slot?] = []
  /// The epoch of the last use of each slot. Kept in a separate array, so that a hit usually only reads four bytes.
  private var lastUses: [UInt32] = []
  private var links: [SlotQueue.Links] = []
  private var freeSlots: [Int32] = []
  private var queue = SlotQueue()
  /// Nil until the cache is half full. Its times are the numbers of epochs.
  private var policy: ReusePolicy?
  private var ghosts = GhostList<Key>()
  private var epoch: UInt32 = 0

  /// Creates an empty cache that refuses values above `largestCost`. Default: an eighth of the limit.
  init(costLimit: Int, largestCost: Int? = nil) {
    self.costLimit = costLimit
    self.largestCost = largestCost ?? costLimit / 8
  }

  /// The total cost of all values, never above the limit.
  var cost: Int { queue.cost }
  /// The number of values.
  var count: Int { index.count }

  /// Returns the value of `key` and notes its use.
  mutating func value(for key: Key) -> Value? {
    guard let slot = slot(of: key).map(Int.init) else { return nil }
    if lastUses[slot] != epoch { noteUse(slot) }
    return slots[slot]?.value
  }

  /// Stores `value`. Values that were evicted, replaced or declined are appended to `evicted`, so that the caller can
  /// release them outside its lock.
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
    guard admits(key, cost: cost) else {
      evicted.append(value)
      return .declined
    }
    let isFirst = !ghosts.remove(key)
    if !isFirst { policy?.countGhosts(-1) }
    let slot = take(Slot(key: key, value: value, cost: cost, queued: epoch, isFirst: isFirst))
    index.insert(slot, for: key.scatteredBits)
    queue.append(slot, cost: cost, in: &links)
    makeRoom(evicted: &evicted)
    if policy == nil, self.cost * 2 >= costLimit { policy = ReusePolicy(kept: count) }
    return .inserted
  }

  /// Removes and returns the value of `key`.
  mutating func remove(_ key: Key) -> Value? {
    guard let slot = slot(of: key), let content = slots[Int(slot)] else { return nil }
    policy?.forget(Int(lastUses[Int(slot)]), at: Int(epoch))
    release(slot, content)
    return content.value
  }

  private func slot(of key: Key) -> Int32? {
    index.slot(of: key.scatteredBits) { slots[Int($0)]?.key == key }
  }

  private mutating func replace(_ slot: Int32, with value: Value, cost: Int, evicted: inout [Value]) {
    guard let old = slots[Int(slot)] else { return }
    evicted.append(old.value)
    slots[Int(slot)]?.value = value
    slots[Int(slot)]?.cost = cost
    queue.adjustCost(by: cost - old.cost)
  }

  private mutating func take(_ content: Slot) -> Int32 {
    if let slot = freeSlots.popLast() {
      slots[Int(slot)] = content
      lastUses[Int(slot)] = epoch
      return slot
    }
    slots.append(content)
    lastUses.append(epoch)
    links.append(SlotQueue.Links())
    return Int32(slots.count - 1)
  }

  private mutating func release(_ slot: Int32, _ content: Slot) {
    index.remove(content.key.scatteredBits) { $0 == slot }
    queue.remove(slot, cost: content.cost, in: &links)
    slots[Int(slot)] = nil
    freeSlots.append(slot)
  }
}

// MARK: Uses and eviction

extension ReuseCache {
  /// Notes the first use of a slot in this epoch.
  private mutating func noteUse(_ slot: Int) {
    note(ReusePolicy.Use(time: Int(lastUses[slot]), isFirst: slots[slot]?.isFirst ?? false))
    slots[slot]?.isFirst = false
    lastUses[slot] = epoch
  }

  private mutating func note(_ last: ReusePolicy.Use?) {
    policy?.beginEpochIfDue(isNewRun: false, at: Int(epoch))
    epoch = UInt32(clamping: policy?.start ?? 0)
    policy?.note(last, at: Int(epoch))
  }

  /// Notes a use of a key without a value, and returns true if its value is to be kept.
  private mutating func admits(_ key: Key, cost: Int) -> Bool {
    guard policy != nil else { return true }
    let last = ghosts[key]
    note(last)
    guard self.cost + cost > costLimit, let victim = victim(), let policy else { return true }
    if policy.admits(last, inPlaceOf: Int(lastUses[Int(victim)]), at: Int(epoch)) { return true }
    remember(key, ReusePolicy.Use(time: Int(epoch), isFirst: last == nil))
    return false
  }

  /// Returns the least recently used slot; nil for an empty cache.
  private mutating func victim() -> Int32? {
    while let content = queue.oldest == SlotQueue.none ? nil : slots[Int(queue.oldest)] {
      let (slot, lastUse) = (queue.oldest, lastUses[Int(queue.oldest)])
      guard lastUse > content.queued else { return slot }
      slots[Int(slot)]?.queued = lastUse
      queue.remove(slot, cost: content.cost, in: &links)
      queue.append(slot, cost: content.cost, in: &links)
    }
    return nil
  }

  private mutating func makeRoom(evicted: inout [Value]) {
    while cost > costLimit, let slot = victim(), let content = slots[Int(slot)] {
      release(slot, content)
      remember(content.key, ReusePolicy.Use(time: Int(lastUses[Int(slot)]), isFirst: content.isFirst))
      evicted.append(content.value)
    }
  }

  private mutating func remember(_ key: Key, _ use: ReusePolicy.Use) {
    guard policy != nil else { return }
    if ghosts.insert(key, use) { policy?.countGhosts(1) }
    while let use = ghosts.removeOldest(above: count) {
      policy?.forget(use.time, at: Int(epoch))
      policy?.countGhosts(-1)
    }
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
/// The links are in an array of the owner, indexed by slot.
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

/// The keys of values that were evicted or declined, with their last uses.
struct GhostList<Key: Hashable> {
  /// The most keys per value in the cache, and the most in a cache with few values.
  private static var keysPerValue: Int { 4 }
  private static var fewest: Int { 64 }

  private var ghosts: [Key: (use: ReusePolicy.Use, number: Int)] = [:]
  /// Oldest first. A key whose number differs from that in `ghosts` has been listed again since, or removed.
  private var order: [(key: Key, number: Int)] = []
  private var first = 0
  private var next = 0

  var count: Int { ghosts.count }

  /// Returns the last use of `key`; nil if it is not listed.
  subscript(key: Key) -> ReusePolicy.Use? { ghosts[key]?.use }

  /// Lists `key`; returns true if it was not listed.
  mutating func insert(_ key: Key, _ use: ReusePolicy.Use) -> Bool {
    next += 1
    order.append((key, next))
    return ghosts.updateValue((use, next), forKey: key) == nil
  }

  /// Removes `key`; returns true if it was listed.
  mutating func remove(_ key: Key) -> Bool { ghosts.removeValue(forKey: key) != nil }

  /// Removes the key that was listed first if there are too many for a cache with `values` values.
  ///
  /// - Returns: The last use of the key.
  mutating func removeOldest(above values: Int) -> ReusePolicy.Use? {
    let limit = max(Self.fewest, values * Self.keysPerValue)
    if order.count > 3 * limit { removeOutdated() }
    while ghosts.count > limit {
      let (key, number) = order[first]
      first += 1
      if let ghost = ghosts[key], ghost.number == number {
        ghosts[key] = nil
        return ghost.use
      }
    }
    return nil
  }

  /// Shortens the order, at a cost of two steps per key that was listed since the last time.
  private mutating func removeOutdated() {
    order = order[first...].filter { ghosts[$0.key]?.number == $0.number }
    first = 0
  }
}
