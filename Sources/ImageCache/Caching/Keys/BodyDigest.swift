/// SHA-256 of a response's body: the identity of the bytes that thumbnails were made from.
public struct BodyDigest: ScatteredKey {
  let words: SIMD4<UInt64>

  /// The digest of `bytes`.
  public init(of bytes: [UInt8]) {
    words = bytes.withUnsafeBytes(sha256)
  }

  /// The digest whose 32 bytes ``bytes`` gave; nil for any other number of them.
  init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    let words = bytes.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
    self.words = SIMD4(words.x.bigEndian, words.y.bigEndian, words.z.bigEndian, words.w.bigEndian)
  }

  /// The first word.
  public var scatteredBits: UInt64 { words.x }

  /// Feeds the last word alone: it is as good as random already.
  public func hash(into hasher: inout Hasher) { hasher.combine(words.w) }

  /// 32 bytes, most significant first.
  var bytes: [UInt8] {
    let words = SIMD4(words.x.bigEndian, words.y.bigEndian, words.z.bigEndian, words.w.bigEndian)
    return withUnsafeBytes(of: words) { [UInt8]($0) }
  }
}

extension BodyDigest: CustomStringConvertible {
  /// 64 lower-case hexadecimal digits.
  public var description: String { (0..<4).map { words[$0].hexadecimal }.joined() }
}
