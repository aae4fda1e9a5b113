import CCrypto

/// SHA-256 (FIPS 180-4) by the system's libcrypto, as four big-endian words.
func sha256(_ bytes: UnsafeRawBufferPointer) -> SIMD4<UInt64> {
  var digest = SIMD4<UInt64>()
  withUnsafeMutableBytes(of: &digest) { output in
    // An empty buffer may have no address, which libcrypto reads as "nothing to hash": the same thing.
    _ = SHA256(
      bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count,
      output.baseAddress?.assumingMemoryBound(to: UInt8.self))
  }
  return SIMD4(digest.x.bigEndian, digest.y.bigEndian, digest.z.bigEndian, digest.w.bigEndian)
}

extension UInt64 {
  /// Sixteen lower-case hexadecimal digits.
  var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
