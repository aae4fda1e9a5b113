/// A key that contains bits as good as random, such as those of a digest.
///
/// A collection that spreads keys evenly can use these bits without hashing the key.
public protocol ScatteredKey: Hashable, Sendable {
  /// Bits that are as good as random.
  var scatteredBits: UInt64 { get }
}
