/// An unbounded first-in, first-out queue of slot numbers. Any slot can be removed from the middle in O(1).
///
/// The links are in an array indexed by slot, which both queues of ``S3FIFO`` share, because a slot is in at most one
/// queue.
struct SlotQueue {
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
