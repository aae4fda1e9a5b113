import Testing

@testable import Downloads

@Suite struct RobotsMatchTests {
  private func isDisallowed(_ path: String, by rule: String) -> Bool {
    !RobotsFile("User-agent: *\nDisallow: \(rule)".utf8, productToken: "thumbs").allows(path: path)
  }

  private func allows(_ rules: String..., path: String) -> Bool {
    let text = (["User-agent: *"] + rules).joined(separator: "\n")
    return RobotsFile(text.utf8, productToken: "thumbs").allows(path: path)
  }

  /// RFC 9309, section 2.2.2: a path, its percent-encoded form, and the form to compare.
  private static let encodings = [
    ["/foo/bar?baz=quz", "/foo/bar?baz=quz", "/foo/bar?baz=quz"],
    ["/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"],
    ["/foo/bar/\u{30C4}", "/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"],
    ["/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"],
    ["/foo/bar/%62%61%7A", "/foo/bar/%62%61%7A", "/foo/bar/baz"],
  ]

  @Test(arguments: encodings)
  func `All spellings of the examples in RFC 9309, section 2.2.2, are equal`(spellings: [String]) {
    for rule in spellings {
      for path in spellings {
        #expect(isDisallowed(path, by: rule), "\(path) by \(rule)")
        #expect(isDisallowed(path, by: rule + "$"))
        #expect(isDisallowed(path + "/x", by: rule))
        #expect(!isDisallowed(path + "/x", by: rule + "$"))
      }
    }
  }

  @Test(arguments: [
    ("/%7euser", "/~user"), ("/%7Euser", "/%7euser"), ("/a%2fb", "/a%2Fb"), ("/a%3ab", "/a:b"), ("/a:b", "/a%3Ab"),
    ("/a b", "/a%20b"), ("/[1]", "/%5B1%5D"), ("/100%", "/100%25"), ("/%zz", "/%25zz"), ("/%4", "/%254"),
    ("/\u{E9}", "/%c3%a9"), ("/?u=/a", "/?u=%2Fa"), ("/?u=%2fa", "/?u=/a"), ("/?a:b", "/?a%3ab"),
    ("/*://", "/?u=https://a"), ("/*%3A%2F%2F", "/?u=https%3a%2f%2fa"), ("*/print/", "/a?b=/print/"),
  ])
  func `Different spellings of an octet are equal`(rule: String, path: String) {
    #expect(isDisallowed(path, by: rule))
  }

  @Test(arguments: [
    ("/a/b", "/a%2Fb"), ("/a%2Fb", "/a/b"), ("/a?b", "/a%3Fb"), ("/a%3Fb", "/a?b"), ("/?a=b", "/?a%3Db"),
    ("/?a%26b", "/?a&b"), ("/A", "/a"), ("/a%62%2f", "/ab/"), ("/\u{E9}", "/e\u{301}"), ("/%C3%A9", "/%C3%A8"),
    ("/*3A", "/a:b"), ("/*A", "/a%3Ab"), ("/%253A", "/%3A"),
  ])
  func `Different octets are not equal`(rule: String, path: String) {
    #expect(!isDisallowed(path, by: rule))
  }

  @Test(arguments: [
    ("/this/path/exactly$", "/this/path/exactly"), ("/this/*/exactly", "/this/path/exactly"),
    ("/this/*/exactly", "/this/a/b/exactly/c"), ("/this/*/exactly", "/this//exactly"),
    ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"), ("/path/foo-%24", "/path/foo-$"),
  ])
  func `The examples of RFC 9309, section 2.2.3, match`(rule: String, path: String) {
    #expect(isDisallowed(path, by: rule))
  }

  @Test(arguments: [
    ("/this/path/exactly$", "/this/path/exactly/"), ("/this/path/exactly$", "/this/path/exactly?a"),
    ("/this/*/exactly", "/this/exactly"), ("/path/file-with-a-%2A.html", "/path/file-with-a-b.html"),
    ("/path/foo-%24", "/path/foo-"), ("/path/foo-%24", "/path/foo-a"),
  ])
  func `The examples of RFC 9309, section 2.2.3, match nothing else`(rule: String, path: String) {
    #expect(!isDisallowed(path, by: rule))
  }

  @Test(arguments: [
    ("/", "/"), ("/", "/a"), ("/a", "/ab"), ("/a/", "/a/b"), ("/a*", "/a"), ("/a*", "/ab"), ("*", "/"), ("**", "/a"),
    ("/*", "/"), ("/*$", "/a"), ("*$", "/"), ("*a", "/ba"), ("/*.jpg$", "/a.jpg.jpg"), ("/*a*a$", "/aa"),
    ("/*ab*ab$", "/abab"), ("/a*b*c", "/a1b2c3"), ("/*aab", "/aaab"), ("/*abcabd", "/abcabcabd"), ("/a$b", "/a$b"),
    ("/a$b", "/a%24b/c"), ("/a$$", "/a$"), ("/a$*", "/a$b"), ("/**a**b", "/xaxb"), ("/*?a=", "/x?a=1"), ("/?", "/?a"),
  ])
  func `A pattern matches`(rule: String, path: String) {
    #expect(isDisallowed(path, by: rule))
  }

  @Test(arguments: [
    ("/a/", "/a"), ("a", "/a"), ("/ab", "/a"), ("$", "/"), ("/$", "/a"), ("/*.jpg$", "/a.jpg?b"), ("/*a*a$", "/a"),
    ("/ab*bc", "/abc"), ("/ab*b$", "/ab"), ("/*ab*ab$", "/aab"), ("/a*b*c", "/acb"), ("*b/", "/a/b"), ("/a$b", "/ab"),
    ("/a$*", "/ab"), ("/a$$", "/a"), ("https://a.example/", "/"),
  ])
  func `A pattern does not match`(rule: String, path: String) {
    #expect(!isDisallowed(path, by: rule))
  }

  @Test func `The rule with the most octets wins, in any order`() {
    for (a, b) in [("Allow: /p", "Disallow: /"), ("Disallow: /", "Allow: /p")] {
      #expect(allows(a, b, path: "/page"))
      #expect(!allows(a, b, path: "/image"))
    }
    #expect(!allows("Allow: /page", "Disallow: /*.html", path: "/page.html"))
    #expect(allows("Allow: /page.h", "Disallow: /*.html", path: "/page.html"))
    #expect(!allows("Allow: /$", "Disallow: /", path: "/page"))
    #expect(allows("Allow: /$", "Disallow: /", path: "/"))
    #expect(!allows("Allow: /\u{E9}", "Disallow: /%C3%A9*", path: "/%C3%A9"))
    #expect(allows("Allow: /\u{E9}\u{E9}", "Disallow: /*abcdefghi", path: "/%C3%A9%c3%a9abcdefghi"))
  }

  @Test(arguments: [
    ("/page", "/page", "/page"), ("/%70age", "/page", "/page"), ("/\u{E9}", "/%c3%a9", "/%C3%A9"),
    ("/a:b", "/a%3ab", "/a:b"), ("/a?u=/", "/a?u=%2F", "/a?u=/b"), ("/a*", "/*b", "/ab"), ("/*", "/$", "/"),
  ])
  func `The rule that allows wins among rules of the same length`(allowed: String, disallowed: String, path: String) {
    #expect(isDisallowed(path, by: allowed) && isDisallowed(path, by: disallowed))
    #expect(allows("Allow: \(allowed)", "Disallow: \(disallowed)", path: path))
    #expect(allows("Disallow: \(disallowed)", "Allow: \(allowed)", path: path))
  }
}
