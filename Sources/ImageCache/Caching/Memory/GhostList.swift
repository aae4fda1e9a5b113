/// The keys of what was evicted lately, without the values: who comes back soon was evicted too early.
///
/// Bounded by the costs the evicted values had.
struct GhostList<Key: Hashable> {
  private struct Ghost {
    var key: Key
    var cost: Int
    var number: Int
  }

  private let costLimit: Int
  private var cost = 0
  private var numbers: [Key: Int] = [:]
  /// Oldest first. A ghost whose number is not the one in `numbers` was recalled meanwhile.
  private var ghosts: [Ghost] = []
  private var firstGhost = 0
  private var nextNumber = 0

  init(costLimit: Int) { self.costLimit = costLimit }

  var count: Int { numbers.count }

  /// Remembers that `key` was evicted, and forgets the oldest ones beyond the limit.
  mutating func insert(_ key: Key, cost: Int) {
    numbers[key] = nextNumber
    ghosts.append(Ghost(key: key, cost: cost, number: nextNumber))
    nextNumber += 1
    self.cost += cost
    while self.cost > costLimit { forgetOldest() }
  }

  /// Takes `key` out; true when it was there.
  mutating func recall(_ key: Key) -> Bool { numbers.removeValue(forKey: key) != nil }

  private mutating func forgetOldest() {
    let ghost = ghosts[firstGhost]
    firstGhost += 1
    cost -= ghost.cost
    if numbers[ghost.key] == ghost.number { numbers[ghost.key] = nil }
    // Half of the array is forgotten: moving the rest down costs one step a ghost.
    if firstGhost * 2 > ghosts.count {
      ghosts.removeFirst(firstGhost)
      firstGhost = 0
    }
  }
}
