/// Collects the rules of a robots.txt that apply to one crawler, line by line (RFC 9309, sections 2.1 and 2.2).
struct RobotsParser {
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
