/// Finds the array of rows in a JSON object, such as `{"total": 2, "items": [{"url": …}, …]}`, byte by byte.
///
/// A path leads to it. Without one, it is the first array whose first element is an object or a URL, in at most
/// ``maxDepth`` objects. Everything else is skipped.
struct JSONRowFinder: Sendable {
  /// The part of a document that has passed.
  enum Step: Hashable, Sendable {
    /// Nothing that belongs to a row.
    case none
    /// Perhaps the beginning of the first element.
    case candidate
    /// The array, up to this part of it.
    case found(Start)
  }

  /// The last byte that has passed when the array is found.
  enum Start: Hashable, Sendable {
    /// Its bracket.
    case array
    /// The brace of its first element, an object.
    case object
    /// The first letters of its first element, a string.
    case string
  }

  private enum Phase: Hashable, Sendable {
    case beforeObject, beforeKey, inKey, afterKey, beforeValue, inSkipped, afterValue
    /// Behind the bracket of an array that may have the rows.
    case inArray
    /// In a string that may be a URL, of which this number of bytes has passed.
    case inString(Int)
  }

  private static let maxDepth = 4
  private static let urlStart = Array("\"http".utf8)

  private let path: [String]?
  private var phase = Phase.beforeObject
  /// The keys of the open objects around the next byte, and the key of its member.
  private var keys: [String] = []
  private var key: [UInt8] = []
  private var isEscaped = false
  /// The number of open objects and arrays in the value that is skipped, and whether the next byte is in a string of
  /// it.
  private var skipped = 0
  private var isInString = false
  /// The arrays that have passed, for the message.
  private var arrays: [String] = []

  init(path: [String]?) { self.path = path }

  /// Returns true if the array begins in `bytes`.
  static func findsRows(in bytes: [UInt8]) -> Bool {
    var finder = JSONRowFinder(path: nil)
    for byte in bytes {
      guard let step = try? finder.take(byte) else { return false }
      if case .found = step { return true }
    }
    return false
  }

  /// Passes the next byte. Throws if there is no array, or if the text is not JSON.
  mutating func take(_ byte: UInt8) throws(ParseError) -> Step {
    switch phase {
    case .inKey: takeInKey(byte)
    case .inSkipped: try takeSkipped(byte)
    case .inString(let count): return try takeInString(byte, count)
    case _ where byte <= 0x20: break
    case .beforeObject: phase = .beforeKey
    case .beforeKey where byte == UInt8(ascii: "\""): (phase, key) = (.inKey, [])
    case .beforeKey where byte == UInt8(ascii: "}"), .afterValue where byte == UInt8(ascii: "}"): try close()
    case .afterKey where byte == UInt8(ascii: ":"): phase = .beforeValue
    case .afterValue where byte == UInt8(ascii: ","): phase = .beforeKey
    case .beforeValue: return try takeValue(byte)
    case .inArray: return try takeInArray(byte)
    case .beforeKey, .afterKey, .afterValue:
      throw ParseError(reason: "not valid JSON: Invalid value", position: .offset(0))
    }
    return .none
  }

  // MARK: Objects

  private mutating func close() throws(ParseError) {
    guard keys.popLast() == nil else { return phase = .afterValue }
    let found = arrays.isEmpty ? "" : "; it has \(arrays.joined(separator: ", ").printable)"
    let wanted = path.map { "no array \($0.joined(separator: "."))" } ?? "no array of rows"
    throw ParseError(
      reason: "the JSON is an object with \(wanted)\(found); name the array as in --url-column 'items[].url'")
  }

  private mutating func takeInKey(_ byte: UInt8) {
    switch byte {
    case _ where isEscaped:
      isEscaped = false
      key.append(byte)
    case UInt8(ascii: "\\"): isEscaped = true
    case UInt8(ascii: "\""): phase = .afterKey
    default: if key.count < 1024 { key.append(byte) }
    }
  }

  // MARK: Values

  private mutating func takeValue(_ byte: UInt8) throws(ParseError) -> Step {
    let here = keys + [String(decoding: key, as: UTF8.self)]
    switch byte {
    case UInt8(ascii: "{") where mayHaveRows(here):
      keys = here
      phase = .beforeKey
    case UInt8(ascii: "["):
      if arrays.count < 5 { arrays.append(here.joined(separator: ".")) }
      if path == here { return .found(.array) }
      if path == nil { phase = .inArray } else { try skip(byte) }
    default: try skip(byte)
    }
    return .none
  }

  /// Returns true if the rows may be in the object behind these keys. With a path, the others are for the message.
  private func mayHaveRows(_ keys: [String]) -> Bool {
    keys.count < max(Self.maxDepth, path?.count ?? 0)
  }

  private mutating func takeInArray(_ byte: UInt8) throws(ParseError) -> Step {
    if byte == UInt8(ascii: "{") { return .found(.object) }
    if byte == UInt8(ascii: "\"") {
      phase = .inString(1)
      return .candidate
    }
    // The rest of the array, from its first element.
    try skip(UInt8(ascii: "["))
    try takeSkipped(byte)
    return .none
  }

  private mutating func takeInString(_ byte: UInt8, _ count: Int) throws(ParseError) -> Step {
    guard byte | 0x20 == Self.urlStart[count] else {
      try skip(UInt8(ascii: "["))
      isInString = true
      try takeSkipped(byte)
      return .none
    }
    phase = .inString(count + 1)
    return count + 1 == Self.urlStart.count ? .found(.string) : .candidate
  }

  // MARK: Skipped values

  /// Skips the value that begins with `byte`.
  private mutating func skip(_ byte: UInt8) throws(ParseError) {
    (phase, skipped, isInString) = (.inSkipped, 0, false)
    try takeSkipped(byte)
  }

  private mutating func takeSkipped(_ byte: UInt8) throws(ParseError) {
    switch byte {
    case _ where isEscaped: isEscaped = false
    case UInt8(ascii: "\\") where isInString: isEscaped = true
    case UInt8(ascii: "\""):
      isInString.toggle()
      if !isInString, skipped == 0 { phase = .afterValue }
    case _ where isInString: break
    case UInt8(ascii: "{"), UInt8(ascii: "["): skipped += 1
    case UInt8(ascii: "}") where skipped == 0, UInt8(ascii: ",") where skipped == 0:
      // The end of a number or a word belongs to the object.
      phase = .afterValue
      _ = try take(byte)
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      skipped -= 1
      if skipped == 0 { phase = .afterValue }
    default: break
    }
  }
}
