import Testing

@testable import Downloads

@Suite struct HostPatternTests {
  @Test(arguments: [
    ("*", "*"), ("Images.Example", "images.example"), ("images.example.", "images.example"),
    ("bücher.example", "xn--bcher-kva.example"), ("127.1", "127.0.0.1"), ("[0:0::1]", "[::1]"),
    ("images.example:8443", "images.example:8443"), ("[::1]:8443", "[::1]:8443"),
    ("BÜCHER.example:81", "xn--bcher-kva.example:81"),
    ("images.example:443", "images.example:443"), ("images.example:80", "images.example:443"),
    ("*.CDN.example", "*.cdn.example"), ("*.bücher.example.", "*.xn--bcher-kva.example"), ("*.example", "*.example"),
  ])
  func `A pattern has one normal form`(text: String, form: String) throws {
    let pattern = try HostPattern(text)

    #expect(pattern.description == form)
    #expect(try HostPattern(form) == pattern)
  }

  @Test(arguments: [
    "", " ", ".", "*.", "**", "*x", "a*.example", "*.*.example", "a.*.example", "*:8443", "*.cdn.example:8443",
    "*.127.0.0.1", "*.[::1]", "*.1", "images.example:", "images.example:x", "images.example:99999",
    "images.example:1:2", "user@images.example", "images.example/a", "https://images.example", "a b", "a..b", "::1",
    "a?b", "a#b", "a\\b",
  ])
  func `Any other text is rejected`(text: String) {
    let failure = #expect(throws: FetchFailure.self) { try HostPattern(text) }

    #expect(failure?.code == .badURL)
  }
}
