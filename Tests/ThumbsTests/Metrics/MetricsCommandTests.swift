import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch --metrics", .timeLimit(.minutes(20))) struct MetricsCommandTests {
  /// The samples of a metrics file, by name and labels.
  private static func samples(_ fixture: CommandFixture, _ name: String = "run.prom") throws -> [String: String] {
    let lines = try fixture.text(name).split(separator: "\n").filter { !$0.hasPrefix("#") }
    return Dictionary(
      uniqueKeysWithValues: lines.map { line in
        let parts = line.split(separator: " ", omittingEmptySubsequences: false)
        return (parts.dropLast().joined(separator: " "), String(parts[parts.count - 1]))
      })
  }

  @Test func `Rows, downloads, renders and cache hits are counted`() async throws {
    let fixture = try CommandFixture { $0.target == "/gone.png" ? .http(404) : .icon() }
    let list = try fixture.list(["/a.png", "/b.png", "/gone.png"])
    #expect(try await fixture.fetch(list, "--metrics", "run.prom").ending == .exit(1))
    let first = try Self.samples(fixture)

    #expect(first["thumbs_items_total{outcome=\"ok\",origin=\"network\",code=\"\"}"] == "2")
    #expect(first["thumbs_items_total{outcome=\"failed\",origin=\"\",code=\"http_404\"}"] == "1")
    #expect(first["thumbs_downloads_total{code=\"\"}"] == "2")
    #expect(first["thumbs_downloads_total{code=\"http_404\"}"] == "1")
    #expect(first["thumbs_renders_total"] == "2" && first["thumbs_render_seconds_count"] == "2")
    #expect(first["thumbs_cache_misses_total{tier=\"disk\"}"] == "3")
    #expect(first["thumbs_run_finished"] == "1" && first["thumbs_run_exit_code"] == "1")
    #expect(Int(first["thumbs_downloaded_bytes_total"] ?? "").map { $0 > 0 } == true)
    #expect(Int(first["thumbs_cache_size_bytes{tier=\"disk\"}"] ?? "").map { $0 > 0 } == true)

    #expect(try await fixture.fetch(list, "--metrics", "run.prom").ending == .exit(1))
    let second = try Self.samples(fixture)
    #expect(second["thumbs_cache_hits_total{tier=\"disk\"}"] == "3")
    #expect(second["thumbs_renders_total"] == "0")
  }

  @Test func `The file exists while the run lasts, and an interrupt is its exit status`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { _ in .icon().after(gate) }
    let list = try fixture.list(["/a.png"])
    let command = try fixture.start(fixture.fetchArguments([list, "--metrics", "run.prom"]))
    await fixture.server.waitForRequests(1)

    #expect(try Self.samples(fixture)["thumbs_run_finished"] == "0")

    command.send(SIGINT)
    #expect(await command.result().ending == .exit(130))
    gate.open()
    let samples = try Self.samples(fixture)
    #expect(samples["thumbs_run_exit_code"] == "130")
    #expect(samples["thumbs_items_total{outcome=\"cancelled\",origin=\"\",code=\"cancelled\"}"] == "1")
  }

  @Test(arguments: [("none/run.prom", Int32(73)), ("notes.txt", 73), ("report.jsonl", 64), ("-", 64)])
  func `A file that cannot be or must not be written ends the command before the run`(
    path: String, status: Int32
  ) async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write("notes\n", as: "notes.txt")
    let result = try await fixture.fetch(try fixture.list(["/a.png"]), "--metrics", path)

    #expect(result.ending == .exit(status))
    #expect(fixture.server.requests.isEmpty)
    #expect(try fixture.text("notes.txt") == "notes\n")
  }
}
