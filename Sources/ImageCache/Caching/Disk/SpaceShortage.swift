/// A shortage of space on the file system of the cache, from the batch that meets it to the one that finds space again.
/// A plain value.
struct SpaceShortage {
  /// The most bytes the database may hold during a shortage: its size when the shortage began; nil without a shortage.
  ///
  /// Set only once per shortage. A new ceiling for each batch would follow every eviction down until nothing is left.
  private(set) var ceiling: Int?

  /// Records whether a batch found the file system short of space.
  mutating func update(isShort: Bool, usedBytes: () throws -> Int) rethrows {
    guard isShort else { return ceiling = nil }
    if ceiling == nil { ceiling = try usedBytes() }
  }
}
