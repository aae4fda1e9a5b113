import Foundation
import Glibc
import ImageCache
import TestSupport
import Testing

@Suite("thumbs doctor", .timeLimit(.minutes(20)), .decoderLibraries) struct DoctorCommandTests {
  /// The findings of `thumbs doctor --json`, by check; a problem wins over other findings of the same check.
  private static func findings(_ result: CommandResult) throws -> [String: [String: Any]] {
    let object = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    let findings = try #require(object["findings"] as? [[String: Any]])
    return Dictionary(findings.map { ($0["check"] as? String ?? "", $0) }) {
      $1["state"] as? String == "problem" ? $1 : $0
    }
  }

  private static func doctor(
    _ fixture: CommandFixture, environment: [String: String] = [:], setup: String? = nil
  ) async throws -> CommandResult {
    let arguments = ["doctor", "--json", "--cache-dir", fixture.cache]
    return try await fixture.start(arguments, environment: environment, setup: setup).result()
  }

  @Test func `The report names versions, formats and the cache`() async throws {
    let fixture = try CommandFixture()
    #expect(try await fixture.fetch(try fixture.list(["/a.png"])).ending == .exit(0))
    let findings = try Self.findings(try await Self.doctor(fixture))
    let libraries = try #require(findings["libraries"]?["values"] as? [String: String])
    let cache = try #require(findings["cache"]?["values"] as? [String: String])

    for name in ["libcurl", "libpng", "libdeflate", "lcms2", "SQLite"] {
      #expect(libraries[name]?.first?.isNumber == true, "\(name) \(libraries[name] ?? "missing")")
    }
    #expect(findings["version"]?["values"] as? [String: String] != nil)
    #expect((findings["formats"]?["values"] as? [String: String])?["in"]?.contains("jpeg") == true)
    #expect(cache["generation"] == "1" && cache["lock"] == "free" && cache["directory"] == fixture.cache)
  }

  @Test func `Nothing is changed on disk`() async throws {
    let fixture = try CommandFixture()
    _ = try await Self.doctor(fixture)
    #expect(try fixture.directory.files() == [])

    #expect(try await fixture.fetch(try fixture.list(["/a.png"])).ending == .exit(0))
    let files = try Self.contents(fixture.cache)
    _ = try await Self.doctor(fixture)
    #expect(try Self.contents(fixture.cache) == files)
  }

  /// The bytes of every file below `path` except the index of SQLite's log, which holds its readers.
  private static func contents(_ path: String) throws -> [String: Data] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: path).filter { !$0.hasSuffix("-shm") }
    return Dictionary(
      uniqueKeysWithValues: names.map { ($0, FileManager.default.contents(atPath: "\(path)/\($0)") ?? Data()) })
  }

  @Test func `A machine without problems exits with 0, another one with 1`() async throws {
    let fixture = try CommandFixture()
    let bad = try await Self.doctor(fixture, environment: ["https_proxy": "ftp://me:secret@a.example"])
    #expect(bad.ending == .exit(1))
    #expect(!bad.output.contains("secret"))

    let good = try await fixture.run("doctor", "--cache-dir", fixture.cache)
    let hasProblem = good.output.contains("\nproblem ")
    #expect(good.ending == .exit(hasProblem ? 1 : 0))
    #expect(good.output.contains("ok       version       thumbs "))
  }

  @Test(arguments: [
    ("nope = 1\n", "configuration", "c.toml, line 1: there is no option 'nope'."),
    ("size = [", "configuration", "c.toml, line 1: "), ("cacert = \"/nope.pem\"\n", "certificates", "/nope.pem"),
    ("cacert = \"pipe\"\n", "certificates", "pipe: is not a regular file"),
    ("[retry]\ncacert = \"/nope.pem\"\n", "certificates", "/nope.pem"),
    ("quiet = true\n[retry]\nverbose = true\n", "configuration", "cannot be used together"),
  ])
  func `An error in the configuration file is a problem with a remedy`(
    text: String, check: String, message: String
  ) async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write(text, as: "c.toml")
    let result = try await Self.doctor(fixture, environment: ["THUMBS_CONFIG": "c.toml"], setup: "mkfifo pipe")
    let finding = try #require(try Self.findings(result)[check])

    #expect(result.ending == .exit(1) && finding["state"] as? String == "problem")
    #expect((finding["message"] as? String)?.contains(message) == true, "\(finding)")
    #expect(finding["remedy"] is String)

    let arguments = ["doctor", "--json", "--no-config", "--cache-dir", fixture.cache]
    let ignored = try await fixture.start(arguments, environment: ["THUMBS_CONFIG": "c.toml"]).result()
    #expect(try Self.findings(ignored)["configuration"]?["state"] as? String == "ok")
  }

  @Test func `The remote cache of the environment or the configuration file gets one request`() async throws {
    let (fixture, remote) = (try CommandFixture(), try ObjectServer())
    let none = try Self.findings(try await Self.doctor(fixture))
    #expect(none["remote-cache"]?["message"] as? String == "none")

    let environment = ["THUMBS_REMOTE_CACHE": remote.url.replacing("http://", with: "http://user:hunter2@")]
    _ = try fixture.directory.write("remote-cache = \"\(remote.url)\"\nremote-cache-timeout = 600", as: "c.toml")
    for (number, settings) in [environment, ["THUMBS_CONFIG": "c.toml"]].enumerated() {
      let result = try await Self.doctor(fixture, environment: settings)
      #expect(result.ending == .exit(0) && !result.output.contains("hunter2"))
      #expect(try Self.findings(result)["remote-cache"]?["state"] as? String == "ok")
      #expect(remote.server.requests.count == number + 1 && remote.requests("PUT").isEmpty)
    }
    #expect(remote.server.requests.first?.fields["authorization"] == "Basic dXNlcjpodW50ZXIy")
  }

  @Test(arguments: [401, 403, 500, 200])
  func `A remote cache that refuses a lookup is a warning`(status: Int) async throws {
    let (fixture, remote) = (try CommandFixture(), try ObjectServer())
    remote.setFault { _ in .http(status, [:], [1]) }
    let result = try await Self.doctor(fixture, environment: ["THUMBS_REMOTE_CACHE": remote.url])
    let finding = try #require(try Self.findings(result)["remote-cache"])
    #expect(result.ending == .exit(0) && finding["state"] as? String == "warning")
    #expect(status == 200 || (finding["message"] as? String)?.contains("status \(status)") == true)
  }

  @Test func `A remote cache that does not exist, and one whose settings are wrong, are reported`() async throws {
    let (fixture, silent) = (try CommandFixture(), try SilentPort())
    for (url, state) in [("http://127.0.0.1:\(silent.port)/", "warning"), ("ftp://me:hunter2@a.example/", "problem")] {
      let result = try await Self.doctor(fixture, environment: ["THUMBS_REMOTE_CACHE": url])
      #expect(try Self.findings(result)["remote-cache"]?["state"] as? String == state)
      #expect(!result.output.contains("hunter2"))
    }
  }

  @Test func `Too few descriptors are reported, although no run could start`() async throws {
    let fixture = try CommandFixture()
    let result = try await Self.doctor(fixture, setup: "ulimit -n 30")

    #expect(result.ending == .exit(1))
    #expect(try Self.findings(result)["descriptors"]?["state"] as? String == "problem")
  }

  @Test func `A cache that is a file, damaged or locked is reported`() async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write("g1\n", as: "file")
    #expect(symlink("nowhere", fixture.directory.path("link")) == 0)
    for (path, message) in [
      ("file/cache", "file is not a directory"), ("file", "file is not a directory"), ("/proc/cache", "is on proc"),
      ("link", "link is not a directory"), ("link/cache", "link is not a directory"),
    ] {
      let finding = try Self.findings(try await fixture.run("doctor", "--json", "--cache-dir", path))["cache"]
      #expect(finding?["state"] as? String == "problem")
      #expect((finding?["message"] as? String)?.contains(message) == true, "\(path)")
    }

    #expect(try await fixture.fetch(try fixture.list(["/a.png"])).ending == .exit(0))
    let lock = open(fixture.cache + "/lock", O_RDWR | O_CLOEXEC)
    defer { close(lock) }
    #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
    #expect(try Self.findings(try await Self.doctor(fixture))["cache"]?["state"] as? String == "warning")

    _ = try fixture.directory.write(String(repeating: "x", count: 8192), as: "cache/g000001/cache.db")
    #expect(try Self.findings(try await Self.doctor(fixture))["cache"]?["state"] as? String == "problem")
  }

  @Test(.enabled(if: geteuid() == 0)) func `A cache of another user is reported`() async throws {
    let fixture = try CommandFixture()
    try FileManager.default.createDirectory(atPath: fixture.cache, withIntermediateDirectories: true)
    #expect(chown(fixture.cache, 4242, 4242) == 0)
    let finding = try #require(try Self.findings(try await Self.doctor(fixture))["cache"])

    #expect(finding["state"] as? String == "problem")
    #expect((finding["message"] as? String)?.contains("4242") == true)
  }
}
