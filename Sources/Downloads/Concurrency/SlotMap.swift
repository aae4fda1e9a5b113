// Inlinable for the reason given in InFlight.swift.

/// Values that are found by the keys that they got when they were added: a slot map. A plain value.
///
/// It takes the place of a dictionary where each request needs many lookups. A lookup is an index into an array, and
/// values change in place. The key of a removed value finds nothing, even after its slot has been used again.
@usableFromInline struct SlotMap<Value: Sendable>: Sendable {
  /// Identifies one value, also after it has been removed.
  @usableFromInline struct Key: Hashable, Sendable {
    @usableFromInline let slot: Int
    @usableFromInline let number: UInt64

    @inlinable init(slot: Int, number: UInt64) { (self.slot, self.number) = (slot, number) }
  }

  @usableFromInline struct Slot: Sendable {
    /// The number of the current key; 0 in a free slot, which no key has.
    @usableFromInline var number: UInt64
    @usableFromInline var value: Value?

    @inlinable init(number: UInt64) { self.number = number }
  }

  @usableFromInline var slots: [Slot] = []
  @usableFromInline var freeSlots: [Int] = []
  @usableFromInline var lastNumber: UInt64 = 0
  /// The number of free slots above which an empty map gives back its memory.
  @inlinable static var keptSlots: Int { 64 }

  @inlinable init() {}

  /// The number of values.
  @inlinable var count: Int { slots.count - freeSlots.count }

  /// Adds a value, and returns its key.
  @inlinable mutating func insert(_ value: Value) -> Key {
    let key = reserveKey()
    slots[key.slot].value = value
    return key
  }

  /// Returns the key of a value that is set later.
  @inlinable mutating func reserveKey() -> Key {
    lastNumber += 1
    let key = Key(slot: freeSlots.popLast() ?? slots.count, number: lastNumber)
    let slot = Slot(number: lastNumber)
    if key.slot == slots.count { slots.append(slot) } else { slots[key.slot] = slot }
    return key
  }

  /// The value of a key; nil if it has been removed, or has not been set. Setting it to nil removes it. A value that is
  /// set after the removal is dropped.
  @inlinable subscript(key: Key) -> Value? {
    @inline(__always) get { contains(key) ? slots[key.slot].value : nil }
    // Changes the value in place. A setter would copy it first.
    @inline(__always) _modify {
      var none: Value?
      guard contains(key) else {
        yield &none
        return
      }
      yield &slots[key.slot].value
      if slots[key.slot].value == nil { free(key.slot) }
    }
  }

  /// Sets the value of a reserved key. Faster than the subscript, which allocates memory for each change.
  @inlinable mutating func set(_ value: Value, for key: Key) {
    if contains(key) { slots[key.slot].value = value }
  }

  /// Changes the value of a key in place, and returns the result of `body`; nil if there is no value. Faster than the
  /// subscript, which allocates memory for each change.
  @discardableResult
  @inlinable mutating func update<Result>(_ key: Key, _ body: (inout Value) -> Result) -> Result? {
    guard contains(key), var value = slots[key.slot].value.take() else { return nil }
    defer { slots[key.slot].value = value }
    return body(&value)
  }

  /// Removes a value and returns it; nil if it has been removed before, or has not been set.
  @discardableResult
  @inlinable mutating func remove(_ key: Key) -> Value? {
    guard contains(key) else { return nil }
    let value = slots[key.slot].value.take()
    free(key.slot)
    return value
  }

  @inlinable mutating func free(_ slot: Int) {
    slots[slot].number = 0
    freeSlots.append(slot)
    if freeSlots.count == slots.count, slots.count > Self.keptSlots { (slots, freeSlots) = ([], []) }
  }

  /// All values with their keys, in no order.
  @inlinable var elements: [(key: Key, value: Value)] {
    var elements: [(key: Key, value: Value)] = []
    elements.reserveCapacity(count)
    for (index, slot) in slots.enumerated() {
      if let value = slot.value { elements.append((Key(slot: index, number: slot.number), value)) }
    }
    return elements
  }

  @inlinable func contains(_ key: Key) -> Bool { key.slot < slots.count && slots[key.slot].number == key.number }
}
