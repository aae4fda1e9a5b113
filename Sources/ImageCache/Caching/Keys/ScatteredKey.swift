/// A key that holds bits which are as good as random, such as a digest's.
///
/// What spreads such keys evenly needs no hash of them.
public protocol ScatteredKey: Hashable, Sendable {
  /// Some bits that differ between any two keys like random ones.
  var scatteredBits: UInt64 { get }
}
