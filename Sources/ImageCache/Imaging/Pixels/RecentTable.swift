/// A small table that drops what was used least recently. A plain value without threads.
///
/// Meant for few entries: an insertion looks at all of them.
struct RecentTable<Key: Hashable, Value> {
  private struct Entry {
    var value: Value
    var cost: Int
    /// The number of the last use; higher is more recent.
    var use: Int
  }

  private let largestCount: Int
  private let largestCost: Int
  private var entries: [Key: Entry] = [:]
  private var cost = 0
  private var uses = 0

  /// A table of at most `largestCount` entries whose costs add up to at most `largestCost`.
  init(largestCount: Int, largestCost: Int) {
    self.largestCount = largestCount
    self.largestCost = largestCost
  }

  /// The number of entries.
  var count: Int { entries.count }

  /// The value of `key`, which counts as used now; nil where there is none.
  mutating func value(for key: Key) -> Value? {
    uses += 1
    entries[key]?.use = uses
    return entries[key]?.value
  }

  /// Sets the value of `key`, and drops others until there is room. A value that alone costs too much is dropped itself.
  ///
  /// - Returns: What was dropped or replaced.
  mutating func insert(_ value: Value, for key: Key, cost: Int) -> [Value] {
    guard cost <= largestCost else { return [value] }
    var dropped = [remove(key)]
    while entries.count >= largestCount || self.cost + cost > largestCost,
      let oldest = entries.min(by: { $0.value.use < $1.value.use })
    {
      dropped.append(remove(oldest.key))
    }
    uses += 1
    entries[key] = Entry(value: value, cost: cost, use: uses)
    self.cost += cost
    return dropped.compactMap(\.self)
  }

  private mutating func remove(_ key: Key) -> Value? {
    guard let entry = entries.removeValue(forKey: key) else { return nil }
    cost -= entry.cost
    return entry.value
  }
}
