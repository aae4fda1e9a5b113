/// A first-in first-out queue of slot numbers, bounded by nothing, from whose middle any number can be taken in O(1).
///
/// The links live in an array indexed by slot, which both queues of ``S3FIFO`` share: a slot is in one queue or none.
struct SlotQueue {
  /// The neighbours of a queued slot.
  struct Links {
    var older: Int32 = none
    var newer: Int32 = none
  }

  static let none: Int32 = -1

  /// The sum of the costs of what is queued, kept by the owner's calls.
  private(set) var cost = 0
  private(set) var oldest: Int32 = none
  private var newest: Int32 = none

  /// Adds `slot` as the newest.
  mutating func append(_ slot: Int32, cost: Int, in links: inout [Links]) {
    links[Int(slot)] = Links(older: newest, newer: Self.none)
    if newest == Self.none { oldest = slot } else { links[Int(newest)].newer = slot }
    newest = slot
    self.cost += cost
  }

  /// Takes `slot`, which must be queued here.
  mutating func remove(_ slot: Int32, cost: Int, in links: inout [Links]) {
    let (older, newer) = (links[Int(slot)].older, links[Int(slot)].newer)
    if older == Self.none { oldest = newer } else { links[Int(older)].newer = newer }
    if newer == Self.none { newest = older } else { links[Int(newer)].older = older }
    self.cost -= cost
  }

  /// Notes that something queued costs `difference` more than before.
  mutating func adjustCost(by difference: Int) { cost += difference }
}
