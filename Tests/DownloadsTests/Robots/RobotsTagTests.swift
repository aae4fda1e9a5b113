import DownloadSupport
import HTTPTypes
import Testing

@testable import Downloads

@Suite struct RobotsTagTests {
  private func tag(_ values: [String], as productToken: String = "thumbs") throws -> String? {
    let name = try #require(HTTPField.Name("x-robots-tag"))
    let fields = HTTPFields(values.map { HTTPField(name: name, value: $0) })
    return RobotsTag.first(in: fields, productToken: productToken)?.rawValue
  }

  @Test(arguments: ["noindex", "noimageindex", "noai", "noimageai", "none"])
  func `A directive forbids the use`(directive: String) throws {
    for value in [
      directive, directive.uppercased(), "  \(directive)\t", "nofollow, \(directive)", "all,\(directive),all",
      "thumbs: \(directive)", "THUMBS : nofollow , \(directive)", "thumbs/1.0: \(directive)", "*: \(directive)",
      "otherbot: nofollow, thumbs: \(directive)", "max-snippet:20, \(directive)", ", ,\(directive)",
      "\(directive): yes", "unavailable_after: 25 Jun 2026 15:00:00 GMT, \(directive)",
      "unavailable_after: Thu, 25 Jun 2026 15:00:00 GMT, \(directive)", "max-image-preview:large,\(directive)",
    ] {
      #expect(try tag([value]) == directive, "\(value)")
      #expect(try tag(["nofollow", value]) == directive)
      #expect(try tag(["otherbot: nofollow", value]) == directive)
    }
  }

  @Test(arguments: [
    "", ",", ":", ": ", "all", "nofollow, noarchive, nosnippet", "index", "noindexed", "no index", "noaid",
    "otherbot: noindex", "otherbot: nofollow, noindex, noai", "OtherBot: none", "thumbs: all, otherbot: noindex",
    "thumbs-images: noindex", "thumb: noindex", "max-snippet: 20", "max-image-preview: none", "max-video-preview:-1",
    "unavailable_after: 25 Jun 2010 15:00:00 GMT", "unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT",
    "unavailable_after: 2010-06-25T15:00:00+00:00", "otherbot: unavailable_after: 25 Jun 2010 15:00:00 GMT, noindex",
    "otherbot: max-snippet:20, noindex", "noindex nofollow",
  ])
  func `Other directives, and those for another crawler, do not`(value: String) throws {
    #expect(try tag([value]) == nil)
    #expect(try tag([value, "nofollow"]) == nil)
  }

  @Test func `The first directive counts, and a crawler's name applies to one field only`() throws {
    #expect(try tag([]) == nil)
    #expect(try tag(["nofollow, noai, noindex"]) == "noai")
    #expect(try tag(["nofollow", "noimageai", "noindex"]) == "noimageai")
    #expect(try tag(["otherbot: noindex", "noai"]) == "noai")
    #expect(try tag(["MyBot: noai"], as: "mybot") == "noai")
    #expect(try tag(["thumbs: noai"], as: "mybot") == nil)
  }

  @Test(arguments: RobotsTag.allCases)
  func `The failure names the directive`(tag: RobotsTag) {
    #expect(tag.failure.code == .blockedRobots)
    #expect(tag.failure.message == "The header field X-Robots-Tag of the response forbids the use: \(tag.rawValue).")
  }
}
