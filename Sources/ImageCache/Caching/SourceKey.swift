/// The key of a source: 128 bits of SHA-256 over the request.
///
/// Two requests with the same key share a download and a cache entry. The cache compares the whole URL on every hit, so
/// even a collision gives a miss, never a wrong image.
public struct SourceKey: ScatteredKey {
  let high: UInt64
  let low: UInt64

  /// Creates the key of a GET request.
  ///
  /// - Parameters:
  ///   - url: The canonical URL, without a fragment.
  ///   - variant: Everything else that changes the response, such as header fields added by the user. Default: empty.
  public init(url: String, variant: String = "") {
    // Neither part contains a NUL, so two different pairs never give the same text.
    var text = "GET\0\(url)\0\(variant)"
    let digest = text.withUTF8 { sha256(UnsafeRawBufferPointer($0)) }
    (high, low) = (digest.x, digest.y)
  }

  /// Creates a key from the sixteen bytes of ``bytes``; nil for any other count.
  init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    let words = bytes.withUnsafeBytes { $0.loadUnaligned(as: SIMD2<UInt64>.self) }
    (high, low) = (words.x.bigEndian, words.y.bigEndian)
  }

  /// The key as sixteen bytes, most significant first.
  var bytes: [UInt8] {
    withUnsafeBytes(of: SIMD2(high.bigEndian, low.bigEndian)) { [UInt8]($0) }
  }

  /// The high word of the key.
  public var scatteredBits: UInt64 { high }

  /// Hashes the low word only, which is already as good as random.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(low)
  }
}

extension SourceKey: CustomStringConvertible {
  /// The key as 32 lowercase hexadecimal digits.
  public var description: String { String(hexadecimal: [high, low]) }
}
