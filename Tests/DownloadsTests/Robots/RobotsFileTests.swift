import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(20))) struct RobotsFileTests {
  private func allows(_ text: String, _ path: String, as productToken: String = "thumbs") -> Bool {
    RobotsFile(text.utf8, productToken: productToken).allows(path: path)
  }

  @Test(arguments: ["", "\n\n", "# A comment\n", "\u{FEFF}", "<html>Not found</html>", "Disallow: /\nAllow: /a"])
  func `A file without groups allows everything`(text: String) {
    #expect(allows(text, "/"))
    #expect(allows(text, "/a?b"))
  }

  /// RFC 9309, section 5.1.
  private static let simple = """
    User-Agent: *
    Disallow: *.gif$
    Disallow: /example/
    Allow: /publications/

    User-Agent: foobot
    Disallow:/
    Allow:/example/page.html
    Allow:/example/allowed.gif

    User-Agent: barbot
    User-Agent: bazbot
    Disallow: /example/page.html

    User-Agent: quxbot
    """

  @Test(arguments: [
    ("otherbot", "/image.gif", false), ("otherbot", "/image.gif?a", true), ("otherbot", "/image.gift", true),
    ("otherbot", "/example/", false), ("otherbot", "/example", true), ("otherbot", "/publications/image.gif", true),
    ("otherbot", "/", true),
    ("foobot", "/", false), ("foobot", "/publications/", false), ("foobot", "/example/page.html", true),
    ("foobot", "/example/allowed.gif", true), ("foobot", "/example/other.gif", false),
    ("barbot", "/example/page.html", false), ("barbot", "/example/page", true), ("barbot", "/image.gif", true),
    ("bazbot", "/example/page.html", false), ("bazbot", "/", true),
    ("quxbot", "/example/page.html", true), ("quxbot", "/image.gif", true),
    ("FooBot", "/publications/", false), ("BARBOT", "/example/page.html", false),
  ])
  func `The groups of the example in RFC 9309, section 5.1, apply`(agent: String, path: String, isAllowed: Bool) {
    #expect(allows(Self.simple, path, as: agent) == isAllowed)
    #expect(allows(Self.simple.replacing("\n", with: "\r\n"), path, as: agent) == isAllowed)
    #expect(allows(Self.simple.replacing("\n", with: "\r"), path, as: agent) == isAllowed)
  }

  @Test(arguments: [
    ("/example/page/", true), ("/example/page/allowed.gif", true), ("/example/page/disallowed.gif", false),
    ("/example/page/disallowed.gif?a", false), ("/example/page/disallowed.gi", true),
  ])
  func `The longest match of the example in RFC 9309, section 5.2, wins`(path: String, isAllowed: Bool) {
    let text = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n"
    #expect(allows(text, path, as: "foobot") == isAllowed)
  }

  @Test(arguments: [("/foo", false), ("/bar", false), ("/baz", false), ("/qux", true), ("/other", true)])
  func `All groups for a product token are one group, as in RFC 9309, section 2.2.1`(path: String, isAllowed: Bool) {
    let text = """
      user-agent: ExampleBot
      disallow: /foo
      disallow: /bar

      user-agent: OtherBot
      user-agent: *
      disallow: /other

      user-agent: ExampleBot
      disallow: /baz
      """
    #expect(allows(text, path, as: "ExampleBot") == isAllowed)
    #expect(allows(text, path, as: "AnotherBot") == (path != "/other"))
  }

  @Test(arguments: [
    "thumbs", "THUMBS", "Thumbs/1.0", "thumbs (by example.com)", "thumbs# a comment", " \t thumbs \t ", "thumbs*",
  ])
  func `A group applies to its product token`(agent: String) {
    #expect(!allows("User-agent: \(agent)\nDisallow: /", "/"))
  }

  @Test(arguments: ["", "thumb", "thumbs2", "thumbs-images", "my thumbs", "**", "*thumbs", "/thumbs", "#thumbs"])
  func `A group does not apply to another product token`(agent: String) {
    #expect(allows("User-agent: \(agent)\nDisallow: /", "/"))
  }

  @Test(arguments: ["*", "* ", "* # all", "* (all)"])
  func `The group for all crawlers applies to those without a group`(agent: String) {
    let text = "User-agent: \(agent)\nDisallow: /\n"
    #expect(!allows(text, "/a"))
    #expect(allows(text + "User-agent: thumbs\nAllow: /b", "/a"))
    #expect(allows(text + "User-agent: thumbs\nDisallow:", "/a"))
    #expect(allows("User-agent: thumbs\nDisallow: /b\n" + text, "/a"))
  }

  @Test(arguments: ["Sitemap: /s.xml", "Crawl-delay: 1", "Host: example.com", "nonsense", ": /", "", "# Disallow: /"])
  func `Lines that are not rules do not end a group`(line: String) {
    #expect(!allows("User-agent: thumbs\n\(line)\nDisallow: /", "/"))
    #expect(!allows("User-agent: thumbs\n\(line)\nUser-agent: other\nDisallow: /", "/"))
    #expect(!allows("User-agent: thumbs\nDisallow: /b\n\(line)\nDisallow: /a", "/a"))
    #expect(allows("User-agent: thumbs\nDisallow:\n\(line)\nUser-agent: other\nDisallow: /", "/"))
  }

  @Test(arguments: [
    "Disallow: /a", "disallow:/a", "DISALLOW : /a", "\t Disallow\t:\t/a\t ", "Disallow: /a#b", "Disallow: /a # /b",
    "Disallow: /a\0", "Disallow: /a\u{0B}",
  ])
  func `White space, case and comments do not change a rule`(line: String) {
    let text = "\u{FEFF}user-AGENT\t: *\r\n\r\n\(line)\r"
    #expect(!allows(text, "/a"))
    #expect(allows(text, "/b"))
  }

  @Test(arguments: [
    "Disallow", "Disallow /a", "Disallow:", "Disallow: #", "Dis allow: /a", "Disallow-x: /a", "Noindex: /a",
  ])
  func `A line that is not a rule forbids nothing`(line: String) {
    #expect(allows("User-agent: *\n\(line)\n", "/a"))
  }
}
