import HTTPTypes
import Testing

@testable import Downloads

@Suite struct HostRulesTests {
  /// Returns rules whose `perHost` limits show which pattern decides.
  private func rules(_ limits: [String: Int]) throws -> HostRules {
    var rules = HostRules()
    for (pattern, limit) in limits { rules[try HostPattern(pattern)] = HostRule(perHost: limit) }
    return rules
  }

  @Test(arguments: [
    ("http://images.example/", 1), ("https://images.example/", 1), ("https://images.example:8443/", 2),
    ("https://images.example:9/", 1), ("http://images.example./", 1), ("http://a.images.example/", 0),
    ("http://cdn.example/", 0), ("http://a.cdn.example/", 3), ("http://a.b.cdn.example:81/", 3),
    ("http://b.a.cdn.example/", 4), ("http://xcdn.example/", 0), ("http://[::1]/", 5), ("http://[::1]:81/", 6),
    ("http://127.0.0.1/", 7), ("https://BÜCHER.example/", 8), ("http://a.b.cdn.example./", 3),
    ("https://ports.example/", 9), ("http://ports.example:443/", 9), ("http://ports.example:81/", 0),
  ])
  func `The most specific pattern that matches a host decides`(url: String, limit: Int) throws {
    let rules = try rules([
      "*": 0, "images.example": 1, "images.example:8443": 2, "*.cdn.example": 3, "*.a.cdn.example": 4, "[::1]": 5,
      "[::1]:81": 6, "127.0.0.1": 7, "bücher.example": 8, "ports.example:443": 9,
    ])

    #expect(rules.rule(for: try SourceURL(url).host).perHost == limit)
  }

  @Test func `Each member comes from the most specific pattern that has it`() throws {
    var rules = HostRules()
    rules[try HostPattern("*")] = HostRule(rate: RequestRate("1/s"), headerFields: [.referer: "r", .accept: "a"])
    rules[try HostPattern("*.example")] = HostRule(perHost: 2, headerFields: [.userAgent: "u2", .accept: "a2"])
    rules[try HostPattern("*.cdn.example")] = HostRule(rate: RequestRate("3/s"))
    rules[try HostPattern("a.cdn.example")] = HostRule(perHost: 4)
    rules[try HostPattern("a.cdn.example:81")] = HostRule(headerFields: [.userAgent: "u5"])

    let rule = rules.rule(for: "a.cdn.example:81")

    #expect(rule.rate == RequestRate("3/s") && rule.perHost == 4)
    let fields = rule.headerFields
    #expect(fields[.referer] == "r" && fields[.accept] == "a2" && fields[.userAgent] == "u5" && fields.count == 3)
    #expect(rules.rule(for: "other").rate == RequestRate("1/s") && rules.rule(for: "other").perHost == nil)
  }

  @Test func `Without a pattern that matches, a host has an empty rule`() throws {
    #expect(HostRules().isEmpty && HostRules().rule(for: "h") == HostRule())
    #expect(try rules(["*.cdn.example": 3]).rule(for: "cdn.example") == HostRule())
  }

  @Test func `Two texts of one pattern have one rule`() throws {
    var rules = try rules(["Images.example": 1])
    #expect(rules[try HostPattern("images.example.")]?.perHost == 1)

    rules[try HostPattern("IMAGES.example")] = nil
    #expect(rules.isEmpty)
  }

  @Test func `Fields of a rule replace the usual ones by name, and empty values remove them`() {
    let usual: HTTPFields = [.userAgent: "thumbs", .accept: "image/png", .referer: "r"]
    let name = HTTPField.Name("X-Key")!
    var own: HTTPFields = [.userAgent: "", .accept: "image/jpeg"]
    own.append(HTTPField(name: name, value: "1"))
    own.append(HTTPField(name: name, value: "2"))

    let fields = HostRule(headerFields: own).headerFields(over: usual)

    #expect(fields[.userAgent] == nil && fields[.accept] == "image/jpeg" && fields[.referer] == "r")
    #expect(fields[values: name] == ["1", "2"])
    #expect(HostRule().headerFields(over: usual) == usual)
  }
}
