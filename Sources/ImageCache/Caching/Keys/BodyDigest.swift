/// SHA-256 of a response's body: the identity of the bytes that thumbnails were made from.
public struct BodyDigest: Hashable, Sendable {
  let words: SIMD4<UInt64>

  /// The digest of `bytes`.
  public init(of bytes: [UInt8]) {
    words = bytes.withUnsafeBytes(sha256)
  }

  /// The digest whose 32 bytes ``bytes`` gave; nil for any other number of them.
  init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 32 else { return nil }
    var words = SIMD4<UInt64>()
    for (index, byte) in bytes.enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(byte) }
    self.words = words
  }

  /// 32 bytes, most significant first.
  var bytes: [UInt8] {
    (0..<32).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> (56 - 8 * ($0 % 8))) }
  }
}

extension BodyDigest: CustomStringConvertible {
  /// 64 lower-case hexadecimal digits.
  public var description: String { (0..<4).map { words[$0].hexadecimal }.joined() }
}
