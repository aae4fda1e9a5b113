import CCrypto

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

extension UInt64 {
  /// The number as sixteen lowercase hexadecimal digits.
  package var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
