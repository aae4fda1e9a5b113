/// The rules of a robots.txt that apply to one crawler (RFC 9309, section 2.2). A plain value.
struct RobotsFile: Sendable {
  private let rules: RobotsRuleList

  /// The part of a file that is read, in bytes. RFC 9309, section 2.5, requires at least this much.
  static let maxBytes = 500 << 10

  /// Reads the first 500 KiB of `bytes`. A line that continues after them is dropped, because a part of a rule may
  /// match more than the rule.
  ///
  /// - Parameters:
  ///   - bytes: The content of the file.
  ///   - productToken: The name of the crawler, whose groups apply. Letters are compared without regard to their case.
  init(_ bytes: some Collection<UInt8>, productToken: String) {
    var rest = Array(bytes.prefix(Self.maxBytes + 1))[...]
    if rest.count > Self.maxBytes { rest = rest[..<(rest.lastIndex(where: Self.isLineEnd) ?? 0)] }
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    var parser = RobotsParser(productToken: productToken)
    while !rest.isEmpty {
      let line = rest.prefix { !Self.isLineEnd($0) }
      parser.read(line)
      rest = rest[line.endIndex...].dropFirst()
    }
    rules = parser.rules
  }

  private static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

  /// The number of bytes in memory.
  var byteCount: Int { rules.byteCount }

  /// Returns the most steps that ``allows(path:)`` takes for a path of `length` bytes.
  func steps(forPathOf length: Int) -> Int { rules.steps(forPathOf: length) }

  /// Returns true if the rules allow `path`, the path of a URL with its query, such as `/a/b?x=1`.
  func allows(path: String) -> Bool { rules.allows(Array(path.utf8)[...]) }

  /// The path of the file, which is always allowed, whatever its rules are.
  static let path = "/robots.txt"
}

// MARK: Product token

extension RobotsFile {
  /// The product token without a custom `User-Agent`.
  static let defaultProductToken = "thumbs"

  /// Returns the name by which a robots.txt knows the sender of the header field `User-Agent: userAgent`: its first
  /// token without the version, such as `MyBot` for `MyBot/1.2 (+https://bot.example)`; ``defaultProductToken`` if
  /// the field has no such token.
  static func productToken(ofUserAgent userAgent: String?) -> String {
    let token = productToken(in: Array((userAgent ?? "").utf8)[...].drop { $0 == UInt8(ascii: " ") })
    return token.isEmpty ? defaultProductToken : String(decoding: token, as: UTF8.self)
  }

  /// Returns the product token at the beginning of `text`, which may be empty. Besides the letters, `_` and `-` of RFC
  /// 9309, section 2.2.1, a token may have digits and dots, because the names of many crawlers do.
  static func productToken(in text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    text.prefix { $0.isASCIIAlphanumeric || "_-.".utf8.contains($0) }
  }

  /// Compares two product tokens without regard to the case of letters.
  static func isEqual(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Bool {
    a.count == b.count && zip(a, b).allSatisfy { $0.lowercased == $1.lowercased }
  }
}

extension UInt8 {
  fileprivate var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

/// Collects the rules of a robots.txt that apply to one crawler, line by line (RFC 9309, sections 2.1 and 2.2).
private struct RobotsParser {
  private let productToken: [UInt8]
  /// The rules of all groups for the product token; nil if there is no such group.
  private var ownRules: RobotsRuleList?
  /// The rules of all groups for `*`.
  private var commonRules = RobotsRuleList()
  private var isInOwnGroup = false
  private var isInCommonGroup = false
  /// True between the first user agent of a group and its first rule. Other lines, such as `Sitemap`, change nothing.
  private var isNamingAgents = false

  init(productToken: String) {
    self.productToken = Array(productToken.utf8)
  }

  /// The rules that apply: those for the product token, or those for `*` if it has no group.
  var rules: RobotsRuleList {
    var rules = ownRules ?? commonRules
    rules.sort()
    return rules
  }

  /// Reads a line without its end. A line that is not a rule or a user agent is ignored.
  mutating func read(_ line: ArraySlice<UInt8>) {
    let content = line.prefix { $0 != UInt8(ascii: "#") }
    guard let colon = content.firstIndex(of: UInt8(ascii: ":")) else { return }
    let value = content[(colon + 1)...].trimmed
    switch String(decoding: content[..<colon].trimmed, as: UTF8.self).lowercased() {
    case "user-agent": readAgent(value)
    case "allow": readRule(value, isAllowed: true)
    case "disallow": readRule(value, isAllowed: false)
    default: break
    }
  }

  private mutating func readAgent(_ value: ArraySlice<UInt8>) {
    if !isNamingAgents { (isInOwnGroup, isInCommonGroup) = (false, false) }
    isNamingAgents = true
    if value.prefix(while: { !$0.isBlank }).elementsEqual([UInt8(ascii: "*")]) {
      isInCommonGroup = true
    } else if RobotsFile.isEqual(RobotsFile.productToken(in: value), productToken) {
      isInOwnGroup = true
      ownRules = ownRules ?? RobotsRuleList()
    }
  }

  private mutating func readRule(_ value: ArraySlice<UInt8>, isAllowed: Bool) {
    isNamingAgents = false
    if isInOwnGroup { ownRules?.append(value, isAllowed: isAllowed) }
    if isInCommonGroup { commonRules.append(value, isAllowed: isAllowed) }
  }
}

extension UInt8 {
  /// True for white space and control characters.
  fileprivate var isBlank: Bool { self <= 0x20 }
}

extension ArraySlice<UInt8> {
  fileprivate var trimmed: ArraySlice<UInt8> {
    let tail = drop { $0.isBlank }
    return tail[..<(tail.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? tail.startIndex)]
  }
}

/// The rules of a group, in one block of memory, because a file of 500 KiB may have 60,000 of them.
private struct RobotsRuleList: Sendable {
  private struct Rule: Sendable {
    let start, end: Int32
    /// The number of octets of the pattern as it was written, in percent-encoded form.
    let octets: Int32
    let isAllowed, isAnchored, hasQuery: Bool
  }

  private var rules: [Rule] = []
  private var patterns: [UInt8] = []
  /// The number of rules with a wildcard, each of which may have to be searched for in a whole path.
  private var searches = 0

  /// The number of bytes in memory.
  var byteCount: Int { patterns.count + rules.count * MemoryLayout<Rule>.stride }

  /// Adds the rule that allows or disallows the paths that `text` matches. An empty pattern matches nothing.
  mutating func append(_ text: ArraySlice<UInt8>, isAllowed: Bool) {
    guard let last = text.last else { return }
    let isAnchored = last == UInt8(ascii: "$")
    let hasQuery = text.contains(UInt8(ascii: "?"))
    let pattern = RobotsPath(isAnchored ? text.dropLast() : text, isPattern: true, escapesQuery: hasQuery)
    let start = patterns.count
    patterns += pattern.bytes
    if pattern.bytes.contains(RobotsPath.wildcard) { searches += 1 }
    rules.append(
      Rule(
        start: Int32(start), end: Int32(patterns.count), octets: Int32(pattern.octets + (isAnchored ? 1 : 0)),
        isAllowed: isAllowed, isAnchored: isAnchored, hasQuery: hasQuery))
  }

  /// Sorts the rules for ``allows(_:)``: the rules with the most octets first, and of equal ones those that allow.
  mutating func sort() {
    rules.sort { a, b in a.octets == b.octets ? a.isAllowed && !b.isAllowed : a.octets > b.octets }
  }

  /// Returns the most steps that ``allows(_:)`` takes for a path of `length` bytes.
  func steps(forPathOf length: Int) -> Int { patterns.count + rules.count + searches * length }

  /// Applies the most specific rule that matches `path`. Without one, the path is allowed.
  ///
  /// A pattern without a question mark does not reveal which of its slashes are in the query, so it is compared with
  /// the slashes as they are written.
  func allows(_ path: ArraySlice<UInt8>) -> Bool {
    let (written, escaped) = (RobotsPath(path).bytes, RobotsPath(path, escapesQuery: true).bytes)
    let rule = rules.first { rule in
      RobotsPattern(bytes: patterns[Int(rule.start)..<Int(rule.end)], isAnchored: rule.isAnchored)
        .matches(rule.hasQuery ? escaped : written)
    }
    return rule?.isAllowed ?? true
  }
}

/// The pattern of a rule: segments between wildcards, and possibly an anchor at the end (RFC 9309, section 2.2.3).
///
/// The first segment must be the beginning of a path, and each of the others is searched for after the one before. The
/// earliest occurrence leaves the most for the rest, so the search never goes back, however many wildcards there are.
struct RobotsPattern {
  /// The segments and the wildcards between them, as ``RobotsPath`` encodes them.
  let bytes: ArraySlice<UInt8>
  /// True if the pattern matches whole paths only.
  let isAnchored: Bool

  /// Returns true if the pattern matches `path`, the bytes of a ``RobotsPath``. Reads each byte at most twice.
  func matches(_ path: some RandomAccessCollection<UInt8>) -> Bool {
    var rest = bytes
    var segment = Self.takeSegment(&rest)
    guard path.starts(with: segment) else { return false }
    var tail = path.dropFirst(segment.count)
    guard rest.startIndex > segment.endIndex else { return !isAnchored || tail.isEmpty }
    while true {
      segment = Self.takeSegment(&rest)
      let isLast = rest.startIndex == segment.endIndex
      if isLast, isAnchored { return tail.suffix(segment.count).elementsEqual(segment) }
      guard let end = Self.end(of: segment, in: tail) else { return false }
      if isLast { return true }
      tail = tail[end...]
    }
  }

  /// Removes the first segment of `bytes` and the wildcard after it, if there is one.
  private static func takeSegment(_ bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let segment = bytes.prefix { $0 != RobotsPath.wildcard }
    bytes = bytes[segment.endIndex...].dropFirst()
    return segment
  }

  /// Returns the end of the first occurrence of `segment`, found by the algorithm of Knuth, Morris and Pratt.
  private static func end<Path: RandomAccessCollection<UInt8>>(
    of segment: ArraySlice<UInt8>, in path: Path
  ) -> Path.Index? {
    guard !segment.isEmpty else { return path.startIndex }
    guard segment.count <= path.count else { return nil }
    let segment = Array(segment)
    let borders = borders(of: segment)
    var matched = 0
    for (index, byte) in zip(path.indices, path) {
      while matched > 0, segment[matched] != byte { matched = borders[matched - 1] }
      if segment[matched] == byte { matched += 1 }
      if matched == segment.count { return path.index(after: index) }
    }
    return nil
  }

  /// Returns for each beginning of `segment` the length of the longest shorter beginning that is also its end.
  private static func borders(of segment: [UInt8]) -> [Int] {
    var (borders, length) = ([Int](repeating: 0, count: segment.count), 0)
    for index in segment.indices.dropFirst() {
      while length > 0, segment[index] != segment[length] { length = borders[length - 1] }
      if segment[index] == segment[length] { length += 1 }
      borders[index] = length
    }
    return borders
  }
}

/// A URL's path with its query, or the pattern of a rule, in the form in which the two are compared (RFC 9309, section
/// 2.2.2).
///
/// Unreserved octets and the delimiters `/`, `?`, `=` and `&` represent themselves, so `%62` becomes `b`. Any other
/// octet becomes an escape, so `:` is equal to `%3A`. An escape has two bytes that occur nowhere else, so a search
/// never finds a part of one.
private struct RobotsPath {
  /// The bytes to compare.
  private(set) var bytes: [UInt8] = []
  /// The number of octets of the percent-encoded form.
  private(set) var octets = 0

  /// The byte that represents any number of octets in a pattern. A path has an escape instead.
  static let wildcard = UInt8(ascii: "*")

  /// - Parameters:
  ///   - text: The path or the pattern as it was written.
  ///   - isPattern: True if `*` is a wildcard. Default false.
  ///   - escapesQuery: True if a slash in the query is equal to `%2F`, because it does not separate anything there.
  ///     Default false.
  init(_ text: ArraySlice<UInt8>, isPattern: Bool = false, escapesQuery: Bool = false) {
    bytes.reserveCapacity(text.count)
    var (rest, isQuery) = (text, false)
    while let byte = rest.popFirst() {
      if let value = Self.escapedOctet(byte, before: rest) {
        rest = rest.dropFirst(2)
        value.isUnreserved ? append(value) : appendEscape(of: value)
      } else if byte.isUnreserved || Self.isDelimiter(byte, escapesSlash: isQuery && escapesQuery) {
        isQuery = isQuery || byte == UInt8(ascii: "?")
        append(byte)
      } else {
        byte == Self.wildcard && isPattern ? append(byte) : appendEscape(of: byte)
      }
    }
  }

  private static func isDelimiter(_ byte: UInt8, escapesSlash: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "/"): !escapesSlash
    case UInt8(ascii: "?"), UInt8(ascii: "="), UInt8(ascii: "&"): true
    default: false
    }
  }

  /// Returns the octet that a percent sign and the digits after it encode; nil if `byte` does not begin an encoding.
  private static func escapedOctet(_ byte: UInt8, before rest: ArraySlice<UInt8>) -> UInt8? {
    guard byte == UInt8(ascii: "%") else { return nil }
    let digits = rest.prefix(2).compactMap(\.hexDigitValue)
    return digits.count == 2 ? digits[0] << 4 | digits[1] : nil
  }

  private mutating func append(_ byte: UInt8) {
    bytes.append(byte)
    octets += 1
  }

  private mutating func appendEscape(of octet: UInt8) {
    bytes.append(0x80 | octet >> 4)
    bytes.append(0x90 | octet & 15)
    octets += 3
  }
}

extension UInt8 {
  /// True for the octets that are never percent-encoded (RFC 3986, section 2.3).
  fileprivate var isUnreserved: Bool {
    switch self {
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
    default: isASCIIAlphanumeric
    }
  }
}
