import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch: network options", .timeLimit(.minutes(20))) struct FetchNetworkTests {
  @Test func `The user agent, referer and header options are sent with every request`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png"])

    let result = try await fixture.fetch(
      "--user-agent", "robot/1", "--referer", "https://site.example/", "--header", "X-Key: k", list)

    #expect(result.ending == .exit(0))

    let fields = try #require(fixture.server.requests.first?.fields)
    #expect(fields["user-agent"] == "robot/1" && fields["referer"] == "https://site.example/")
    #expect(fields["x-key"] == "k")
  }

  @Test func `The netrc file in the home directory is used only with --netrc`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png"])
    _ = try fixture.directory.write("machine 127.0.0.1 login net password rc\n", as: ".netrc")

    for option in [[], ["--netrc", "--refresh"]] {
      let arguments = fixture.fetchArguments(option + [list])
      let result = try await fixture.start(arguments, environment: ["HOME": fixture.directory.path]).result()
      #expect(result.ending == .exit(0))
    }

    #expect(fixture.server.requests.map { $0.fields["authorization"] } == [nil, "Basic bmV0OnJj"])
    #expect(try fixture.report().allSatisfy { $0.status == "ok" })
  }

  @Test func `The proxy from the environment is used except for the hosts in NO_PROXY`() async throws {
    let (fixture, proxy) = (try CommandFixture(), try LoopbackServer { _ in .icon() })
    let list = try fixture.directory.write(
      "http://icons.example/a.png\n\(fixture.server.url("/b.png"))\n", as: "list.txt")
    let environment = [
      "http_proxy": "http://127.0.0.1:\(proxy.port)", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1",
    ]

    let result = try await fixture.start(fixture.fetchArguments([list]), environment: environment).result()

    #expect(result.ending == .exit(0))
    #expect(proxy.requests.map(\.target) == ["http://icons.example/a.png"])
    #expect(fixture.server.requests.map(\.target) == ["/b.png"])
  }

  @Test func `Credentials in a URL are sent to the server and printed nowhere`() async throws {
    let fixture = try CommandFixture { $0.target == "/a.png" ? .http(401) : .icon() }
    let urls = ["a", "b"].map { "http://user:s3cret@127.0.0.1:\(fixture.server.port)/\($0).png\n" }
    let list = try fixture.directory.write(urls.joined(), as: "list.txt")

    let result = try await fixture.fetch("-v", list)

    #expect(result.ending == .exit(1))
    #expect(fixture.server.requests.allSatisfy { $0.fields["authorization"] == "Basic dXNlcjpzM2NyZXQ=" })

    let report = try String(contentsOfFile: fixture.directory.path("report.jsonl"), encoding: .utf8)
    #expect(!report.contains("s3cret") && !result.errors.contains("s3cret") && !result.output.contains("s3cret"))
  }
}
