import Foundation

/// The `id` of a row of the worker. A number and a string are never equal.
enum RowID: Hashable, Sendable {
  case number(Int)
  case text(String)

  /// Reads a JSON value; nil unless it is a string or a whole number of 64 bits with a sign.
  init?(_ value: Any?) {
    if let text = value as? String {
      self = .text(text)
    } else if let number = value as? NSNumber, !number.isBoolean, let whole = Int(exactly: number) {
      self = .number(whole)
    } else {
      return nil
    }
  }

  /// True if the text contains U+FFFD. ``JSONDocument`` puts that in place of half a surrogate pair, so that the
  /// result would not have the id of the row.
  var hasReplacement: Bool {
    if case .text(let text) = self { text.unicodeScalars.contains("\u{FFFD}") } else { false }
  }

  /// A hash of 128 bits. Compares strings byte by byte, unlike `==`, for which a letter may have several encodings.
  var digest: UInt128 { UInt128(hash(seed: 0)) << 64 | UInt128(hash(seed: 1)) }

  private func hash(seed: UInt8) -> UInt64 {
    // The hasher has random keys, so that nobody can find two ids with the same hash.
    var hasher = Hasher()
    hasher.combine(seed)
    switch self {
    case .number(let number): hasher.combine(number)
    case .text(var text): text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
    return UInt64(truncatingIfNeeded: hasher.finalize())
  }
}

extension NSNumber {
  /// True for a JSON value of true or false, which Foundation reads as a number.
  fileprivate var isBoolean: Bool { ["c", "B"].contains(String(cString: objCType)) }
}
