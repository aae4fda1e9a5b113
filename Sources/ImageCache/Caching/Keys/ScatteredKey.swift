/// A key that contains bits as good as random, such as those of a digest.
///
/// A collection that spreads keys evenly can use these bits without hashing the key.
public protocol ScatteredKey: Hashable, Sendable {
  /// Bits that differ between two keys like random ones.
  var scatteredBits: UInt64 { get }
}
