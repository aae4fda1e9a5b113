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
