import Foundation
import TestSupport
import Testing

@testable import thumbs

/// Secrets that are not on the command line, and certificate authorities.
@Suite("thumbs fetch: credentials", .timeLimit(.minutes(20))) struct CredentialTests {
  @Test func `Header fields come from options, files and environment variables`() async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write("# a comment\n\nX-File: f\r\n  Accept:  image/png \n", as: "fields.txt")
    let options = ["-H", "X-Option: o", "-H", "@fields.txt", "--header-env", "Authorization=API_TOKEN"]
    let arguments = fixture.fetchArguments(options + [fixture.server.url("/a.png")])

    let result = try await fixture.start(arguments, environment: ["API_TOKEN": "Bearer s3cret"]).result()

    #expect(result.ending == .exit(0), "\(result.errors)")
    let fields = try #require(fixture.server.requests.first?.fields)
    #expect(fields["x-option"] == "o" && fields["x-file"] == "f" && fields["accept"] == "image/png")
    #expect(fields["authorization"] == "Bearer s3cret")
    #expect(try !(result.errors + result.output + fixture.text("report.jsonl")).contains("s3cret"))
  }

  @Test func `A file of header fields may be a pipe`() async throws {
    let fixture = try CommandFixture()
    let arguments = fixture.fetchArguments(["--header", "@/dev/stdin", fixture.server.url("/a.png")])
    let command = try fixture.start(arguments, input: .pipe)
    command.write("X-Key: k\n")
    command.closeInput()

    #expect(await command.result().ending == .exit(0))
    #expect(fixture.server.requests.map { $0.fields["x-key"] } == ["k"])
  }

  @Test(arguments: [
    (["-H", "@none.txt"], "--header none.txt: there is no such file"),
    (["-H", "@list.txt"], "--header @list.txt, line 1: give a field such as 'Name: value'"),
    (["-H", "@"], "give a file name after @"), (["--header-env", "A=NO_SUCH_VARIABLE"], "NO_SUCH_VARIABLE is not set"),
    (["--header-env", "Authorization"], "such as Authorization=API_TOKEN"),
    (["--header-env", "A b=HOME"], "before the colon"),
    (["--header-env", "Content-Length=HOME"], "is set by thumbs itself"),
    (["--cookie-file", "none.txt"], "--cookie-file none.txt: there is no such file"),
    (["--cookie-file", "."], "is a directory, not a file of cookies"),
    (["--cookie-file", "list.txt"], "--cookie-file list.txt, line 1: give the seven fields"),
    (["--cacert", "none.pem"], "--cacert none.pem: there is no such file"),
    (["--cacert", "empty.pem"], "--cacert empty.pem: there is no certificate in it; give a PEM file"),
    (["--cacert", "list.txt"], "there is no certificate in it"),
    (["--cacert", "/dev/null"], "is not a regular file; give a PEM file"),
  ])
  func `An unusable file or variable is a usage error before the run`(options: [String], message: String) async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write("text\n", as: "list.txt")
    _ = try fixture.directory.write("", as: "empty.pem")

    let result = try await fixture.start(fixture.fetchArguments(options + [fixture.server.url("/a.png")])).result()

    #expect(result.ending == .exit(64))
    #expect(result.errors.hasPrefix("Error: ") && result.errors.contains(message), "\(result.errors)")
    #expect(fixture.server.requests.isEmpty)
    #expect(try fixture.directory.files() == ["empty.pem", "list.txt"])
  }

  @Test func `Cookies go to their host only, and another file gives another cache entry`() async throws {
    let fixture = try CommandFixture { $0.fields["cookie"] == nil ? .http(403) : .icon() }
    let url = fixture.server.url("/a.png")
    _ = try fixture.directory.write("127.0.0.1\tFALSE\t/\tFALSE\t0\tid\ts3cret\n", as: "mine.txt")
    _ = try fixture.directory.write("127.0.0.1\tFALSE\t/\tFALSE\t0\tid\tother\n", as: "other.txt")
    _ = try fixture.directory.write("a.example\tFALSE\t/\tFALSE\t0\tid\tx\n", as: "elsewhere.txt")

    for (file, ending) in [("mine.txt", 0), ("mine.txt", 0), ("other.txt", 0), ("elsewhere.txt", 1)] {
      #expect(try await fixture.fetch("--cookie-file", file, url).ending == .exit(Int32(ending)))
    }

    #expect(fixture.server.requests.map { $0.fields["cookie"] } == ["id=s3cret", "id=other", nil])
    #expect(try !fixture.text("report.jsonl").contains("s3cret"))
  }

  @Test func `A file that an option reads is never replaced by an output`() async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write("X-Key: k\n", as: "fields.txt")

    let result = try await fixture.start(
      fixture.fetchArguments(["-H", "@fields.txt", fixture.server.url("/a.png")], report: "fields.txt")
    ).result()

    #expect(result.ending == .exit(64))
    #expect(result.errors.contains("cannot be both a file that --header reads and the report"))
    #expect(try fixture.text("fields.txt") == "X-Key: k\n")
  }

  @Test(arguments: ["--report", "--summary", "--gallery", "--metrics"])
  func `The configuration file and ~/.netrc are never replaced by an output`(option: String) async throws {
    let fixture = try CommandFixture()
    for (name, text, role) in [
      ("c.toml", "retries = 0\n", "the configuration file"), (".netrc", "", "a file that --netrc reads"),
    ] {
      _ = try fixture.directory.write(text, as: name)
      let arguments = fixture.fetchArguments(["--netrc", fixture.server.url("/a.png"), option, name, "--overwrite"])

      let result = try await fixture.start(arguments, environment: ["THUMBS_CONFIG": "c.toml"]).result()

      #expect(result.ending == .exit(64) && result.errors.contains("\(name) cannot be both \(role) and the "))
      #expect(try fixture.text(name) == text)
    }
    #expect(fixture.server.requests.isEmpty)
  }

  @Test(arguments: ["CURL_CA_BUNDLE", "SSL_CERT_FILE"])
  func `The file of certificate authorities is never replaced by an output`(variable: String) async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write("text", as: "ca.pem")
    let arguments = fixture.fetchArguments([fixture.server.url("/a.png"), "--overwrite"], report: "ca.pem")

    let result = try await fixture.start(arguments, environment: [variable: "ca.pem"]).result()

    #expect(result.ending == .exit(64))
    #expect(result.errors.contains("ca.pem cannot be both the file of certificate authorities and the report"))
    #expect(try fixture.text("ca.pem") == "text")
  }

  @Test func `The profile of inks is never replaced by an output`() async throws {
    let fixture = try CommandFixture()
    let profile = try Self.inks()
    _ = try fixture.directory.write(profile, as: "inks.icc")
    let arguments = ["--cmyk-profile", "inks.icc", fixture.server.url("/a.png"), "--overwrite"]

    let result = try await fixture.start(fixture.fetchArguments(arguments, report: "inks.icc")).result()

    #expect(result.ending == .exit(64))
    #expect(result.errors.contains("inks.icc cannot be both a file that --cmyk-profile reads and the report"))
    #expect(try Array(fixture.data("inks.icc")) == profile)
  }

  /// The ICC profile in the only APP2 segment of a JPEG file (ICC.1:2010, B.4).
  private static func inks() throws -> [UInt8] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fixtures/pictures")
    let file = try Data(contentsOf: folder.appending(path: "cmyk-profile.jpg"))
    let name = try #require(file.range(of: Data("ICC_PROFILE\0\u{1}\u{1}".utf8)))
    let length = Int(file[name.lowerBound - 2]) << 8 | Int(file[name.lowerBound - 1])
    return Array(file[name.upperBound..<name.lowerBound - 2 + length])
  }

  @Test func `No thumbnail replaces the configuration file`() async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write("retries = 0\n", as: "a.png")
    let arguments = fixture.fetchArguments([fixture.server.url("/a.png"), "-o", ".", "--overwrite"])

    let result = try await fixture.start(arguments, environment: ["THUMBS_CONFIG": "a.png"]).result()

    #expect(result.ending == .exit(1))
    #expect(try fixture.report().map(\.code) == ["output_conflict"])
    #expect(try fixture.text("a.png") == "retries = 0\n")
  }

  private static let secure = ProcessInfo.processInfo.environment["THUMBS_TEST_HTTPS"]
  private static let authority = ProcessInfo.processInfo.environment["THUMBS_TEST_CA"]

  @Test(.enabled(if: secure != nil, "\"make test\" starts the server that this test needs."))
  func `Only the authorities of --cacert are trusted, and their responses have their own cache entries`() async throws {
    let fixture = try CommandFixture()
    let (server, good) = (try #require(Self.secure), try #require(Self.authority))
    let url = server + "/fjord.jpg"
    let other = good.replacing("ca.pem", with: "self.pem")

    #expect(try await fixture.fetch("--cacert", good, url).ending == .exit(0))
    #expect(try await fixture.fetch("--cacert", good, "--offline", url).ending == .exit(0))
    for options in [[], ["--cacert", other]] {
      let offline = try await fixture.start(fixture.fetchArguments(options + ["--offline", url])).result()
      #expect(offline.ending == .exit(1))
      #expect(try fixture.report().map(\.code) == ["offline_miss"])

      let online = try await fixture.start(fixture.fetchArguments(options + [url])).result()
      #expect(online.ending == .exit(1))
      #expect(try fixture.report().map(\.code) == ["tls"])
    }
  }
}
