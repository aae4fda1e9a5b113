import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

@Suite struct RedirectChainTests {
  private func trail(_ url: String) throws -> RedirectChain { RedirectChain(from: try SourceURL(url), limit: 5) }

  @Test func `A redirect from https to http is not followed`() throws {
    var trail = try trail("http://h/a")
    try trail.follow(Array("https://h/a".utf8), in: HTTPResponse(status: .found))

    let failure = #expect(throws: FetchFailure.self) {
      try trail.follow(Array("http://h/b".utf8), in: HTTPResponse(status: .found))
    }

    #expect(failure?.code == .blockedScheme)
    #expect(trail.finalURL == "https://h/a")
    #expect(trail.redirects.map(\.url) == ["http://h/a"])
  }

  @Test(arguments: [
    ("http://h/a", "/b", true), ("http://h/a", "https://h/b", true), ("http://h:80/a", "http://H/b", true),
    ("http://h/a", "http://other/b", false), ("http://h/a", "http://h:8080/b", false),
    ("http://h/a", "http://h.other/b", false), ("http://h/a", "http://sub.h/b", false),
    ("http://h/a", "http://h@other/b", false), ("http://u@h/a", "http://v@h/b", true),
  ])
  func `Only the host and port of the request count as the original host`(
    url: String, location: String, isAtOriginalHost: Bool
  ) throws {
    var trail = try trail(url)

    try trail.follow(Array(location.utf8), in: HTTPResponse(status: .found))

    #expect(trail.isAtOriginalHost == isAtOriginalHost)
  }

  @Test func `Another host gets only harmless header fields of the request`() throws {
    let fields: HTTPFields = [
      .userAgent: "thumbs", .accept: "image/png", .authorization: "Bearer x", .cookie: "a=b",
      .init("X-Api-Key")!: "secret", .ifNoneMatch: "\"1\"",
    ]
    var trail = try trail("http://h/a")

    try trail.follow(Array("http://other/a".utf8), in: HTTPResponse(status: .found))
    #expect(trail.fields(of: fields) == [.userAgent: "thumbs", .accept: "image/png", .ifNoneMatch: "\"1\""])

    try trail.follow(Array("http://h/b".utf8), in: HTTPResponse(status: .found))
    #expect(trail.fields(of: fields) == fields)
  }

  @Test func `Credentials of the URL are sent only to its host`() throws {
    var trail = try trail("http://user:word@h/a")

    try trail.follow(Array("/b".utf8), in: HTTPResponse(status: .found))
    #expect(trail.hop.credentials == "user:word")

    try trail.follow(Array("http://other/c".utf8), in: HTTPResponse(status: .found))
    #expect(trail.hop.credentials == nil)

    try trail.follow(Array("/d".utf8), in: HTTPResponse(status: .found))
    #expect(trail.hop.credentials == nil)
  }

  @Test(arguments: [
    ("a=1", "http://h/x/z", "a=1"), ("a=1", "http://h/y", nil), ("a=1; Path=/", "http://h/y", "a=1"),
    ("a=1; Path=/", "http://other/", nil), ("a=1; Path=/", "http://sub.h/", nil),
    ("a=1; Domain=h; Path=/", "http://sub.h/", nil), ("a=1; Path=/; Secure", "https://h/", nil),
    ("a=1; Path=/; Max-Age=60", "http://h/", "a=1"), ("a=1; Path=/; Max-Age=0", "http://h/", nil),
    ("a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "http://h/", nil),
    ("a=1; Path=/; Expires=Fri, 01 Jan 2100 00:00:00 GMT", "http://h/", "a=1"), ("=1; Path=/", "http://h/", nil),
    ("novalue", "http://h/x/z", nil), ("a=; Path=/", "http://h/", "a="), (" a = b c ;Path=/", "http://h/", "a=b c"),
  ])
  func `A cookie is sent to the host and the path that it is for`(set: String, url: String, sent: String?) throws {
    var trail = try trail("http://h/x/y")

    try trail.follow(Array(url.utf8), in: HTTPResponse(status: .found, headerFields: [.setCookie: set]))

    #expect(trail.cookies.field(for: trail.hop) == sent)
  }

  @Test func `A cookie of a domain is for its subdomains, and only a host within it may set it`() throws {
    for (domain, sent) in [("h.example", "a=1"), (".H.example", "a=1"), ("other.example", nil), ("example", nil)] {
      var trail = try trail("http://www.h.example/")
      let fields: HTTPFields = [.setCookie: "a=1; Domain=\(domain)"]
      try trail.follow(Array("http://img.h.example/".utf8), in: HTTPResponse(status: .found, headerFields: fields))
      #expect(trail.cookies.field(for: trail.hop) == sent, "\(domain)")
    }
  }

  @Test func `A later cookie replaces an earlier one, and others of its name`() throws {
    var trail = try trail("http://h/")
    for set in ["a=1", "b=2", "a=3"] {
      try trail.follow(Array("/".utf8), in: HTTPResponse(status: .found, headerFields: [.setCookie: set]))
    }

    #expect(trail.cookies.field(for: trail.hop) == "b=2; a=3")
    #expect(ChainCookies.merge("x=0; b=9;c", with: "b=2; a=3") == "x=0; c; b=2; a=3")
    #expect(ChainCookies.merge(nil, with: "a=3") == "a=3")
  }

  @Test(arguments: [300, 304, 305, 306, 200, 201, 404])
  func `A response that is not a redirect is not followed, even with a Location`(status: Int) {
    let response = HTTPResponse(status: .init(code: status), headerFields: [.location: "/b"])

    #expect(RedirectChain.location(in: response) == nil)
  }
}
