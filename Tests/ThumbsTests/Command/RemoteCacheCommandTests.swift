import ArgumentParser
import BatchFetch
import Foundation
import TestSupport
import Testing

@testable import thumbs

@Suite("thumbs fetch: the remote cache", .timeLimit(.minutes(20))) struct RemoteCacheCommandTests {
  /// Timeouts that are too long to expire on a busy machine, and hosts on this machine.
  private static let patient = [
    "--remote-cache-connect-timeout", "600", "--remote-cache-timeout", "600", "--remote-cache-private",
  ]

  /// Runs `fetch` on the machine called `name`, which has its own cache, and returns the rows of its report.
  private func fetch(
    _ fixture: CommandFixture, on name: String, _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> (result: CommandResult, rows: [ReportedRow]) {
    let all = [
      "--cache-dir", fixture.directory.path(name), "-o", name, "--report", "\(name).jsonl", "--retries", "0",
      "--summary", "\(name).json", "--metrics", "\(name).prom", "--progress", "none",
    ]
    let result = try await fixture.start(all + Self.patient + arguments, environment: environment).result()
    return (result, try ReportedRow.all(in: fixture.text("\(name).jsonl")))
  }

  private func counts(_ fixture: CommandFixture, of name: String) throws -> [String: Int] {
    try fixture.object("\(name).json")["remoteCache"] as? [String: Int] ?? [:]
  }

  @Test func `The second machine makes no request to the hosts, and its files are the same`() async throws {
    let (fixture, remote) = (try CommandFixture { .icon($0.target.count) }, try ObjectServer())
    let list = try fixture.list((1...50).map { "/\(String(repeating: "a", count: $0)).png" })
    let arguments = ["--remote-cache", remote.url, "-s", "16,24", list]

    let first = try await fetch(fixture, on: "one", arguments)
    #expect(first.result.ending == .exit(0) && first.rows.allSatisfy { $0.origin == "network" })
    #expect(first.result.errors.contains("  remote cache: 50 misses; 50 stored\n"))
    #expect(fixture.server.requests.count == 50 && remote.objects.count == 150)

    let second = try await fetch(fixture, on: "two", arguments)
    #expect(second.result.ending == .exit(0) && second.rows.allSatisfy { $0.origin == "remote" })
    #expect(second.result.errors.contains("  ok: 50 remote\n") && second.result.errors.contains("50 hits\n"))
    #expect(fixture.server.requests.count == 50 && remote.requests("PUT").count == 150)
    for path in first.rows.flatMap(\.paths) { #expect(try fixture.data("one/\(path)") == fixture.data("two/\(path)")) }

    let counts = try counts(fixture, of: "two")
    #expect(
      counts == [
        "hits": 50, "misses": 0, "timeouts": 0, "errors": 0, "rejected": 0, "skipped": 0, "stored": 0, "failed": 0,
        "dropped": 0,
      ])
    let metrics = try fixture.text("two.prom")
    #expect(metrics.contains("thumbs_remote_cache_lookups_total{result=\"hit\"} 50\n"))
    #expect(metrics.contains("thumbs_items_total{outcome=\"ok\",origin=\"remote\",code=\"\"} 50\n"))
    #expect(try fixture.text("one.prom").contains("thumbs_remote_cache_uploads_total{result=\"stored\"} 50\n"))
  }

  @Test func `The URL and the key may be in the environment, and the options replace them`() async throws {
    let (fixture, remote) = (try CommandFixture(), try ObjectServer())
    let list = try fixture.list(["/a.png"])
    let environment = ["THUMBS_REMOTE_CACHE": remote.url, "THUMBS_REMOTE_CACHE_KEY": "a key of 16 bytes"]
    _ = try fixture.directory.write("a key of 16 bytes\n", as: "key")
    _ = try fixture.directory.write("another key of 16 bytes", as: "other")

    for (name, arguments, origin) in [
      ("one", [], "network"), ("two", [], "remote"), ("three", ["--remote-cache-key", "key"], "remote"),
      ("four", ["--remote-cache-key", "other", "--remote-cache-read-only"], "network"),
      ("five", ["--remote-cache", ""], "network"), ("six", [], "remote"),
    ] {
      let run = try await fetch(fixture, on: name, arguments + [list], environment: environment)
      #expect(run.result.ending == .exit(0) && run.rows.map(\.origin) == [origin], "\(name)")
    }
    #expect(try counts(fixture, of: "four")["misses"] == 1 && counts(fixture, of: "five").isEmpty)
    #expect(try fixture.object("five.json")["remoteCache"] is NSNull)
  }

  @Test func `A remote cache that does not exist changes neither the rows nor the exit status`() async throws {
    let fixture = try CommandFixture { $0.target == "/gone.png" ? .http(404) : .icon() }
    let list = try fixture.list((0..<20).map { "/\($0).png" } + ["/gone.png"])
    let silent = try SilentPort()
    let without = try await fetch(fixture, on: "one", [list])
    let with = try await fetch(
      fixture, on: "two",
      [
        "--remote-cache", "http://127.0.0.1:\(silent.port)/", "--remote-cache-connect-timeout", "0.1", list,
      ])
    #expect(without.result.ending == .exit(1) && with.result.ending == .exit(1))
    #expect(without.rows.map(\.status) == with.rows.map(\.status) && without.rows.map(\.code) == with.rows.map(\.code))
    let counts = try counts(fixture, of: "two")
    #expect(counts["timeouts", default: 0] >= 5 && counts["stored"] == 0)
    let notes = with.result.errorLines.filter { $0.contains("is not available") }
    #expect((1...2).contains(notes.count) && notes.allSatisfy { $0.contains("127.0.0.1:\(silent.port)") })
  }

  @Test func `A remote cache that dies during a run costs nothing but hits`() async throws {
    let remote = try ObjectServer()
    let fixture = try CommandFixture { .icon(Int($0.target.dropFirst().prefix { $0 != "." }) ?? 0) }
    let list = try fixture.list((0..<200).map { "/\($0).png" })
    let arguments = ["--remote-cache", remote.url, list]
    #expect(try await fetch(fixture, on: "one", arguments).result.ending == .exit(0))
    let count = Counter()
    remote.setFault { [server = remote.server] _ in
      if count.next() == 150 { server.stop() }
      return nil
    }
    let run = try await fetch(fixture, on: "two", arguments)
    #expect(run.result.ending == .exit(0) && run.rows.count == 200 && run.rows.allSatisfy { $0.status == "ok" })
    #expect(Set(run.rows.map(\.origin)) == ["remote", "network"])
    for path in run.rows.flatMap(\.paths) { #expect(try fixture.data("one/\(path)") == fixture.data("two/\(path)")) }
  }

  @Test func `Private, credentialed, local and unverified images never get to the remote cache`() async throws {
    let remote = try ObjectServer()
    let fixture = try CommandFixture { request in
      switch request.target {
      case "/private.png": .icon(fields: ["Cache-Control": "private, max-age=3600"])
      case "/secret.png": .icon(fields: ["Cache-Control": "no-store"])
      default: .icon()
      }
    }
    let port = fixture.server.port
    _ = try fixture.directory.write(SampleImage.png(width: 40, height: 30), as: "local.png")
    let list = try fixture.list(urls: [
      fixture.server.url("/private.png"), fixture.server.url("/secret.png"), "http://user:pw@127.0.0.1:\(port)/u.png",
      "http://localhost:\(port)/insecure.png", "file://\(fixture.directory.path("local.png"))",
    ])
    let run = try await fetch(
      fixture, on: "one", ["--remote-cache", remote.url, "--allow-file", "--insecure-host", "localhost", list])
    #expect(run.result.ending == .exit(0) && run.rows.count == 5)
    #expect(remote.requests("PUT").isEmpty && remote.requests("GET").count == 2)

    // The header field makes every row one with credentials.
    let more = ["--remote-cache", remote.url, "--header", "Authorization: Bearer x", try fixture.list(["/a.png"])]
    #expect(try await fetch(fixture, on: "two", more).result.ending == .exit(0))
    #expect(remote.server.requests.count == 2)
  }

  @Test func `Images of this machine and of private networks are neither looked up nor uploaded without the option`()
    async throws
  {
    let (fixture, remote) = (try CommandFixture(), try ObjectServer())
    let port = fixture.server.port
    let list = try fixture.list(urls: ["127.0.0.1", "localhost", "a.localhost"].map { "http://\($0):\(port)/a.png" })
    let result = try await fixture.start(
      fixture.fetchArguments(["--remote-cache", remote.url, "--remote-cache-timeout", "600", list])
    ).result()
    #expect(result.ending == .exit(0) && fixture.server.requests.count == 3 && remote.server.requests.isEmpty)
  }

  @Test(arguments: [
    (["--remote-cache", "ftp://user:hunter2@a.example/"], "--remote-cache: The URL of the remote cache must have"),
    (["--remote-cache", "http://user:hunter2@a.example/?x"], "must not have a query"),
    (["--remote-cache", "s3://bucket"], "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
    (
      ["--remote-cache", "http://a.example/", "--remote-cache-key", "none"], "--remote-cache-key none: there is no such"
    ),
    (["--remote-cache", "http://a.example/", "--remote-cache-key", "short"], "shorter than 16 bytes"),
    (["--remote-cache", "http://a.example/", "--remote-cache-timeout", "0"], "--remote-cache-timeout"),
  ])
  func `An invalid setting is a usage error without the password, before anything is fetched`(
    arguments: [String], message: String
  ) async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write("short\n", as: "short")
    let result = try await fixture.start(fixture.fetchArguments(arguments + [try fixture.list(["/a.png"])])).result()
    #expect(result.ending == .exit(64) && result.errors.contains(message))
    #expect(!result.errors.contains("hunter2") && fixture.server.requests.isEmpty)
  }

  @Test func `The end of a run waits for uploads for a tenth of its duration, but at least for two timeouts`() throws {
    let credentials = try Credentials(NetworkOptions.parse([]))
    var remote = try RemoteCache("http://a.example/", environment: [:])
    for (elapsed, timeout, time) in [(0, 1, 2), (20, 1, 2), (600, 1, 60), (600, 40, 80)] {
      remote.readTimeout = .seconds(timeout)
      let settings = RunSettings(
        started: .now, hosts: HostRules(), connections: 1, credentials: credentials, remoteCache: remote)
      #expect(settings.uploadTime(at: settings.started + .seconds(elapsed)) == .seconds(time))
    }
  }

  @Test func `The file with the key is never replaced by an output`() async throws {
    let (fixture, remote) = (try CommandFixture(), try ObjectServer())
    _ = try fixture.directory.write("a key of 16 bytes", as: "key")
    let list = try fixture.list(["/a.png"])
    let result = try await fixture.start([
      "--cache-dir", fixture.cache, "--remote-cache", remote.url, "--remote-cache-key", "key", "--report", "key", list,
    ]).result()
    #expect(result.ending == .exit(64) || result.ending == .exit(73))
    #expect(try fixture.text("key") == "a key of 16 bytes")
  }
}
