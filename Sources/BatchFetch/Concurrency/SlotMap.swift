/// Values that are found by the keys that they got when they were added: a slot map. A plain value.
///
/// It takes the place of a dictionary where each request needs many lookups. A lookup is an index into an array, and
/// values change in place. The key of a removed value finds nothing, even after its slot has been used again.
struct SlotMap<Value: Sendable>: Sendable {
  /// Identifies one value, also after it has been removed.
  struct Key: Hashable, Sendable {
    fileprivate let slot: Int
    fileprivate let number: UInt64
  }

  private struct Slot: Sendable {
    /// The number of the current key, or of the last one.
    var number: UInt64
    var value: Value?
  }

  private var slots: [Slot] = []
  private var freeSlots: [Int] = []
  private var lastNumber: UInt64 = 0
  /// The number of free slots above which an empty map gives back its memory.
  private static var keptSlots: Int { 64 }

  /// The number of values.
  var count: Int { slots.count - freeSlots.count }

  /// Adds a value, and returns its key.
  mutating func insert(_ value: Value) -> Key {
    lastNumber += 1
    let slot = Slot(number: lastNumber, value: value)
    guard let free = freeSlots.popLast() else {
      slots.append(slot)
      return Key(slot: slots.count - 1, number: lastNumber)
    }
    slots[free] = slot
    return Key(slot: free, number: lastNumber)
  }

  /// The value of a key; nil if it has been removed.
  subscript(key: Key) -> Value? {
    get { contains(key) ? slots[key.slot].value : nil }
    // Changes the value in place. A setter would copy it first.
    @inline(__always) _modify {
      var none: Value?
      if contains(key) { yield &slots[key.slot].value } else { yield &none }
    }
  }

  /// Removes a value and returns it; nil if it has been removed before.
  @discardableResult
  mutating func remove(_ key: Key) -> Value? {
    guard contains(key), let value = slots[key.slot].value.take() else { return nil }
    freeSlots.append(key.slot)
    if freeSlots.count == slots.count, slots.count > Self.keptSlots { (slots, freeSlots) = ([], []) }
    return value
  }

  /// The keys of all values, in no order.
  var keys: [Key] {
    slots.indices.filter { slots[$0].value != nil }.map { Key(slot: $0, number: slots[$0].number) }
  }

  private func contains(_ key: Key) -> Bool { key.slot < slots.count && slots[key.slot].number == key.number }
}
