/// A small least-recently-used table. A plain value without synchronization.
///
/// Meant for few entries: an insertion visits all of them.
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

  /// Creates a table of at most `largestCount` entries with a total cost of at most `largestCost`.
  init(largestCount: Int, largestCost: Int) {
    self.largestCount = largestCount
    self.largestCost = largestCost
  }

  /// The number of entries.
  var count: Int { entries.count }

  /// Returns the value of `key` and marks it as used; nil if there is none.
  mutating func value(for key: Key) -> Value? {
    uses += 1
    entries[key]?.use = uses
    return entries[key]?.value
  }

  /// Sets the value of `key` and drops the least recently used entries until there is room. A value that costs more
  /// than the whole table may is not inserted.
  ///
  /// - Returns: The values that were dropped, replaced or not inserted.
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
