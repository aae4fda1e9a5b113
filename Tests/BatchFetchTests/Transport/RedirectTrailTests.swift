import HTTPTypes
import TestSupport
import Testing

@testable import BatchFetch

@Suite struct RedirectTrailTests {
  private func trail(_ url: String, _ fields: HTTPFields = [:]) throws -> RedirectTrail {
    RedirectTrail(TransferRequest(source: try SourceURL(url), headerFields: fields))
  }

  @Test func `From https it never leads back to http`() throws {
    var trail = try trail("http://h/a")
    try trail.follow("https://h/a", in: HTTPResponse(status: .found))
    let failure = #expect(throws: FetchFailure.self) {
      try trail.follow("http://h/b", in: HTTPResponse(status: .found))
    }
    #expect(failure?.code == .blockedScheme)
    #expect(trail.finalURL == "https://h/a")
  }

  @Test(arguments: [
    ("http://h/a", "/b", true), ("http://h/a", "https://h/b", true), ("http://h:80/a", "http://H/b", true),
    ("http://h/a", "http://other/b", false), ("http://h/a", "http://h:8080/b", false),
    ("http://h/a", "http://h.other/b", false), ("http://h/a", "http://sub.h/b", false),
    ("http://h/a", "http://h@other/b", false), ("http://u@h/a", "http://v@h/b", true),
  ])
  func `Only the host that the caller named is trusted`(url: String, location: String, isAtHome: Bool) throws {
    var trail = try trail(url)
    try trail.follow(location, in: HTTPResponse(status: .found))
    #expect(trail.isAtHome == isAtHome)
  }

  @Test func `Another host gets no field of the caller's own`() throws {
    let fields: HTTPFields = [
      .userAgent: "thumbs", .accept: "image/png", .authorization: "Bearer x", .cookie: "a=b",
      .init("X-Api-Key")!: "secret", .ifNoneMatch: "\"1\"",
    ]
    var trail = try trail("http://h/a", fields)
    try trail.follow("http://other/a", in: HTTPResponse(status: .found))
    #expect(trail.headerFields == [.userAgent: "thumbs", .accept: "image/png", .ifNoneMatch: "\"1\""])
    try trail.follow("http://h/b", in: HTTPResponse(status: .found))
    #expect(trail.headerFields == fields)
  }

  @Test func `Credentials of the address stay with its host`() throws {
    var trail = try trail("http://user:word@h/a")
    try trail.follow("/b", in: HTTPResponse(status: .found))
    #expect(trail.hop.credentials == "user:word")
    try trail.follow("http://other/c", in: HTTPResponse(status: .found))
    #expect(trail.hop.credentials == nil)
    try trail.follow("/d", in: HTTPResponse(status: .found))
    #expect(trail.hop.credentials == nil)
  }

  @Test(arguments: [300, 304, 305, 306, 200, 201, 404])
  func `What is no redirect is not followed, whatever its Location says`(status: Int) {
    let response = HTTPResponse(status: .init(code: status), headerFields: [.location: "/b"])
    #expect(RedirectTrail.location(in: response) == nil)
  }
}
