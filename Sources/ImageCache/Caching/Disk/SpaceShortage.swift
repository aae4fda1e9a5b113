/// A shortage of space on the cache's file system, from the batch that meets it to the one that finds room again: a
/// plain value.
struct SpaceShortage {
  /// The most that the database may hold during the shortage: what it held when the shortage began; nil without one.
  ///
  /// Fixed once. A ceiling taken anew for each batch would follow each eviction down until nothing is left.
  private(set) var ceiling: Int?

  /// Takes note of the room that a batch finds.
  mutating func update(isShort: Bool, usedBytes: () throws -> Int) rethrows {
    guard isShort else { return ceiling = nil }
    if ceiling == nil { ceiling = try usedBytes() }
  }
}
