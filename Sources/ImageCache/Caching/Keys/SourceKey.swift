/// What one source is found by: 128 bits of SHA-256 over the request.
///
/// Two requests with one key share a download and a cache entry. The cache compares the whole URL on every hit, so
/// even a collision gives a miss, never another picture.
public struct SourceKey: ScatteredKey {
  let high: UInt64
  let low: UInt64

  /// The key of a GET request.
  ///
  /// - Parameters:
  ///   - url: The canonical URL, without a fragment.
  ///   - variant: What else makes the answer another one, such as header fields the user added. Empty by default.
  public init(url: String, variant: String = "") {
    // A NUL occurs in neither part, so no two pairs give the same text.
    let digest = Array("GET\0\(url)\0\(variant)".utf8).withUnsafeBytes(sha256)
    (high, low) = (digest.x, digest.y)
  }

  /// The key of sixteen bytes that ``bytes`` gave; nil for any other number of them.
  init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    let words = bytes.withUnsafeBytes { $0.loadUnaligned(as: SIMD2<UInt64>.self) }
    (high, low) = (words.x.bigEndian, words.y.bigEndian)
  }

  /// Sixteen bytes, most significant first.
  var bytes: [UInt8] {
    withUnsafeBytes(of: SIMD2(high.bigEndian, low.bigEndian)) { [UInt8]($0) }
  }

  /// The high word.
  public var scatteredBits: UInt64 { high }

  /// Feeds the low word alone: it is as good as random already.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(low)
  }
}

extension SourceKey: CustomStringConvertible {
  /// 32 lower-case hexadecimal digits.
  public var description: String { high.hexadecimal + low.hexadecimal }
}
