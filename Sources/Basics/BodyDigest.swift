/// The SHA-256 digest of a response body. Identifies the bytes that thumbnails were made from.
public struct BodyDigest: ScatteredKey {
  // Not one vector, which would be aligned to 32 bytes, and with it every object that contains a digest: such memory
  // takes longer to allocate.
  private let first: UInt64
  private let second: UInt64
  private let third: UInt64
  private let fourth: UInt64

  package var words: SIMD4<UInt64> { SIMD4(first, second, third, fourth) }

  /// Computes the digest of `bytes`.
  public init(of bytes: [UInt8]) {
    self.init(bytes.withUnsafeBytes(sha256))
  }

  /// Reads a digest from 64 hexadecimal digits, in upper or lower case; nil for any other text.
  public init?(_ text: String) {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue.map(UInt8.init) }
    guard digits.count == 64, text.utf8.count == 64 else { return nil }
    self.init(bytes: stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
  }

  private init(_ words: SIMD4<UInt64>) { (first, second, third, fourth) = (words.x, words.y, words.z, words.w) }

  /// Creates a digest from the 32 bytes of ``bytes``; nil for any other count.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    let words = bytes.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
    self.init(SIMD4(words.x.bigEndian, words.y.bigEndian, words.z.bigEndian, words.w.bigEndian))
  }

  /// The first word of the digest.
  public var scatteredBits: UInt64 { first }

  /// Hashes the last word only, which is already as good as random.
  public func hash(into hasher: inout Hasher) { hasher.combine(fourth) }

  /// The digest as 32 bytes, most significant first.
  package var bytes: [UInt8] {
    let words = SIMD4(words.x.bigEndian, words.y.bigEndian, words.z.bigEndian, words.w.bigEndian)
    return withUnsafeBytes(of: words) { [UInt8]($0) }
  }
}

extension BodyDigest: CustomStringConvertible {
  /// The digest as 64 lowercase hexadecimal digits.
  public var description: String { (0..<4).map { words[$0].hexadecimal }.joined() }
}
