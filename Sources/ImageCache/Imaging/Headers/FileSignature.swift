/// The first bytes of every file of a format.
struct FileSignature: Sendable {
  /// The bytes in order. nil stands for any byte.
  let bytes: [UInt8?]
  /// The offset of a byte that may have any value but zero.
  private let nonzero: Int?

  init(_ bytes: [UInt8?], nonzero: Int? = nil) { (self.bytes, self.nonzero) = (bytes, nonzero) }

  /// Returns true if a file that begins with `prefix` has this signature.
  func matches(_ prefix: Span<UInt8>) -> Bool {
    prefix.count >= bytes.count && agrees(with: prefix)
  }

  /// Returns true if a file that begins with `prefix` may have this signature. A prefix that agrees only with wildcards
  /// does not count, because every file does.
  func mayMatch(_ prefix: Span<UInt8>) -> Bool {
    bytes.prefix(prefix.count).contains { $0 != nil } && agrees(with: prefix)
  }

  /// Returns true if `prefix` is shorter than the signature, and the bytes after it decide whether the file has it.
  func canStillMatch(_ prefix: Span<UInt8>) -> Bool { prefix.count < bytes.count && agrees(with: prefix) }

  private func agrees(with prefix: Span<UInt8>) -> Bool {
    if let nonzero, nonzero < prefix.count, prefix[nonzero] == 0 { return false }
    for (index, expected) in bytes.prefix(prefix.count).enumerated() {
      if let expected, prefix[index] != expected { return false }
    }
    return true
  }

  /// Returns the characters of `text` as the bytes of a signature.
  static func ascii(_ text: String) -> [UInt8?] { text.utf8.map(Optional.some) }

  /// Returns wildcards for `count` bytes.
  static func any(_ count: Int) -> [UInt8?] { Array(repeating: nil, count: count) }
}
