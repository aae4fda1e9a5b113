import CCrypto

/// Returns the HMAC-SHA256 (RFC 2104, FIPS 180-4) of `bytes` under `key`, 32 bytes; nil if libcrypto fails.
func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8]? {
  // An empty key would be no key for libcrypto.
  guard !key.isEmpty, let length = Int32(exactly: key.count) else { return nil }
  var tag = [UInt8](repeating: 0, count: 32)
  let isDone = bytes.withUnsafeBytes { bytes in
    HMAC(
      EVP_sha256(), key, length, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, &tag, nil)
  }
  return isDone == nil ? nil : tag
}

/// Returns true if both have the same bytes. The time depends only on their number, so it shows nobody how many of the
/// first bytes are right.
func isEqualInConstantTime(_ a: [UInt8], _ b: [UInt8]) -> Bool {
  a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
}
