/// The order in which this process last used slots. Times of use are in seconds, in which a fast run replaces the whole
/// contents of a small cache; without the order, it could evict what it has just stored. A plain value.
struct SlotOrder {
  private static let limit = 1 << 16
  private var positions: [Int: Int] = [:]
  private var next = 1

  /// Makes `slot` the last one.
  mutating func append(_ slot: Int) {
    if positions.count >= Self.limit { positions = [:] }
    positions[slot] = next
    next += 1
  }

  /// Returns `slots` in order, beginning with those that are not known, as they come.
  func sorted(_ slots: [Int]) -> [Int] {
    let known = slots.compactMap { slot in positions[slot].map { (position: $0, slot: slot) } }
    guard !known.isEmpty else { return slots }
    return slots.filter { positions[$0] == nil } + known.sorted { $0.position < $1.position }.map(\.slot)
  }
}
