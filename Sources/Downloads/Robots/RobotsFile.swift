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
