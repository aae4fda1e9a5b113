/// The rules of a group, in one block of memory, because a file of 500 KiB may have 60,000 of them.
struct RobotsRuleList: Sendable {
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
