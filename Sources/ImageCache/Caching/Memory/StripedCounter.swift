import Synchronization

/// A counter that threads increment at the same time without waiting for each other: each of its stripes has a line of
/// the processor's cache for itself.
struct StripedCounter: ~Copyable {
  private struct Stripe: ~Copyable {
    let count = Atomic(0)
    /// Fills the line of 64 bytes.
    private let padding: [7 of Int] = [0, 0, 0, 0, 0, 0, 0]
  }

  private let stripes: [8 of Stripe] = InlineArray { _ in Stripe() }

  /// Increments the counter. Threads with different `bits`, such as those of a key, seldom meet on a stripe.
  func increment(_ bits: UInt64) {
    stripes[Int(truncatingIfNeeded: bits >> 8) & 7].count.wrappingAdd(1, ordering: .relaxed)
  }

  /// The sum of all stripes.
  var value: Int { stripes.indices.reduce(0) { $0 + stripes[$1].count.load(ordering: .relaxed) } }
}
