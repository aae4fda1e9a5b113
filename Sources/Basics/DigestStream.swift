import CCrypto

/// Computes the SHA-256 digest (FIPS 180-4) of bytes that arrive in pieces. Used by one thread.
package final class DigestStream {
  private let context = EVP_MD_CTX_new()

  /// Creates the digest of no bytes.
  package init() { EVP_DigestInit_ex(context, EVP_sha256(), nil) }

  deinit { EVP_MD_CTX_free(context) }

  /// Adds bytes.
  package func add(_ bytes: UnsafeRawBufferPointer) { EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }

  /// Returns the digest of all bytes. Nothing may be added any more.
  package func finish() -> BodyDigest? {
    var bytes = [UInt8](repeating: 0, count: 32)
    return EVP_DigestFinal_ex(context, &bytes, nil) == 1 ? BodyDigest(bytes: bytes) : nil
  }
}
