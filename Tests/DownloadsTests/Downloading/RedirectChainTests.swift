import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

@Suite struct RedirectChainTests {
  private func trail(_ url: String) throws -> RedirectChain { RedirectChain(from: try SourceURL(url), limit: 5) }

  @Test func `A redirect from https to http is not followed`() throws {
    var trail = try trail("http://h/a")
    try trail.follow("https://h/a", in: HTTPResponse(status: .found))

    let failure = #expect(throws: FetchFailure.self) {
      try trail.follow("http://h/b", in: HTTPResponse(status: .found))
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

    try trail.follow(location, in: HTTPResponse(status: .found))

    #expect(trail.isAtOriginalHost == isAtOriginalHost)
  }

  @Test func `Another host gets only harmless header fields of the request`() throws {
    let fields: HTTPFields = [
      .userAgent: "thumbs", .accept: "image/png", .authorization: "Bearer x", .cookie: "a=b",
      .init("X-Api-Key")!: "secret", .ifNoneMatch: "\"1\"",
    ]
    var trail = try trail("http://h/a")

    try trail.follow("http://other/a", in: HTTPResponse(status: .found))
    #expect(trail.fields(of: fields) == [.userAgent: "thumbs", .accept: "image/png", .ifNoneMatch: "\"1\""])

    try trail.follow("http://h/b", in: HTTPResponse(status: .found))
    #expect(trail.fields(of: fields) == fields)
  }

  @Test func `Credentials of the URL are sent only to its host`() throws {
    var trail = try trail("http://user:word@h/a")

    try trail.follow("/b", in: HTTPResponse(status: .found))
    #expect(trail.hop.credentials == "user:word")

    try trail.follow("http://other/c", in: HTTPResponse(status: .found))
    #expect(trail.hop.credentials == nil)

    try trail.follow("/d", in: HTTPResponse(status: .found))
    #expect(trail.hop.credentials == nil)
  }

  @Test(arguments: [300, 304, 305, 306, 200, 201, 404])
  func `A response that is not a redirect is not followed, even with a Location`(status: Int) {
    let response = HTTPResponse(status: .init(code: status), headerFields: [.location: "/b"])

    #expect(RedirectChain.location(in: response) == nil)
  }
}
