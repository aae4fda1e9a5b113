import CCrypto

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
  public var description: String { String(hexadecimal: [first, second, third, fourth]) }
}

/// Computes the SHA-256 digest (FIPS 180-4) of bytes that arrive in pieces. Used by one thread.
package final class DigestStream {
  private let context = EVP_MD_CTX_new()

  /// Creates the digest of no bytes.
  package init() { EVP_DigestInit_ex(context, EVP_sha256(), nil) }

  deinit { EVP_MD_CTX_free(context) }

  /// Adds bytes.
  package func add(_ bytes: UnsafeRawBufferPointer) { EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }

  /// Returns the digest of all bytes. Nothing may be added anymore.
  package func finish() -> BodyDigest? {
    var bytes = [UInt8](repeating: 0, count: 32)
    return EVP_DigestFinal_ex(context, &bytes, nil) == 1 ? BodyDigest(bytes: bytes) : nil
  }
}

/// Returns the SHA-256 digest (FIPS 180-4) of `bytes` as four words, computed by the system's libcrypto.
package func sha256(_ bytes: UnsafeRawBufferPointer) -> SIMD4<UInt64> {
  var digest = SIMD4<UInt64>()
  withUnsafeMutableBytes(of: &digest) { output in
    let output = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    // The base address of an empty buffer may be nil. libcrypto then hashes nothing, which gives the right digest.
    if EVP_Digest(bytes.baseAddress, bytes.count, output, nil, implementation, nil) == 1 { return }
    _ = SHA256(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, output)
  }
  return SIMD4(digest.x.bigEndian, digest.y.bigEndian, digest.z.bigEndian, digest.w.bigEndian)
}

/// The implementation of SHA-256, searched for once: the search takes longer than the digest of a URL.
/// `nonisolated(unsafe)` is correct: it never changes, and any thread may use it (OpenSSL, `EVP_MD_fetch(3)`).
private nonisolated(unsafe) let implementation = EVP_MD_fetch(nil, "SHA256", nil)

extension String {
  /// Creates the text of `words` in lowercase hexadecimal digits, sixteen for each.
  package init(hexadecimal words: [UInt64]) {
    self.init(unsafeUninitializedCapacity: words.count * 16) { text in
      for place in 0..<words.count * 16 {
        let digit = UInt8(truncatingIfNeeded: words[place / 16] >> UInt64(60 - place % 16 * 4)) & 15
        text[place] = digit + UInt8(ascii: digit < 10 ? "0" : "W")
      }
      return words.count * 16
    }
  }
}

/// A key that contains bits as good as random, such as those of a digest.
///
/// A collection that spreads keys evenly can use these bits without hashing the key.
public protocol ScatteredKey: Hashable, Sendable {
  /// Bits that are as good as random.
  var scatteredBits: UInt64 { get }
}

/// A system library in use, and its version.
public struct LibraryVersion: Hashable, Sendable {
  /// The name, such as `libpng`.
  public var name: String
  /// The version, such as `1.6.39`.
  public var version: String

  /// Creates the version of a library.
  public init(_ name: String, _ version: String) {
    (self.name, self.version) = (name, version)
  }
}
