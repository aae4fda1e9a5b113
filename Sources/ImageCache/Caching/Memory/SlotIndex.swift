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
