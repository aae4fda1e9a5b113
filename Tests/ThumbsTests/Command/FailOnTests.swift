import Foundation
import TestSupport
import Testing

/// Runs the command with images that are damaged, between whole ones.
@Suite("thumbs fetch: --fail-on", .timeLimit(.minutes(20))) struct FailOnTests {
  private static let whole = SampleImage.png(width: 300, height: 200)
  private static let cut = Array(whole.dropLast(whole.count / 3))
  private static let corrupt = whole.indices.map { $0 == whole.count / 2 ? whole[$0] ^ 0x55 : whole[$0] }

  private static func fixture() throws -> CommandFixture {
    try CommandFixture { request in
      switch request.target {
      case "/cut.png": .http(200, ["Cache-Control": "max-age=600"], cut)
      case "/corrupt.png": .http(200, ["Cache-Control": "max-age=600"], corrupt)
      default: .http(200, ["Cache-Control": "max-age=600"], whole)
      }
    }
  }

  private static let paths = ["/a.png", "/cut.png", "/b.png", "/corrupt.png", "/c.png"]

  private func codes(_ fixture: CommandFixture, _ level: String) async throws -> [String] {
    _ = try await fixture.fetch(fixture.list(Self.paths), "--fail-on", level)
    return try fixture.report().sorted { $0.index < $1.index }.map { $0.code ?? $0.status }
  }

  @Test func `A damaged image has a thumbnail and a warning if damage is tolerated, and is not cached`() async throws {
    let fixture = try Self.fixture()

    #expect(try await codes(fixture, "none") == ["ok", "ok", "ok", "ok", "ok"])
    let rows = try fixture.report()
    #expect(rows.filter { !$0.warnings.isEmpty }.count == 2)
    #expect(try fixture.outputs().filter { $0.hasSuffix(".png") }.count == 5)

    // The damaged images are requested again; the others are fresh.
    #expect(try await codes(fixture, "error") == ["ok", "truncated", "ok", "decode_error", "ok"])
    #expect(fixture.server.requests.filter { $0.target == "/a.png" }.count == 1)
    #expect(fixture.server.requests.filter { $0.target == "/cut.png" }.count == 2)
  }

  @Test func `A cached failure does not count if it is tolerated`() async throws {
    let fixture = try Self.fixture()
    #expect(try await codes(fixture, "error") == ["ok", "truncated", "ok", "decode_error", "ok"])

    #expect(try await codes(fixture, "truncated") == ["ok", "truncated", "ok", "ok", "ok"])
    #expect(try await codes(fixture, "none") == ["ok", "ok", "ok", "ok", "ok"])
  }

  /// A small thumbnail of a progressive JPEG needs only its first scans, so damage in the last one goes unnoticed and
  /// the original is kept.
  @Test func `A thumbnail of a damaged original that was kept is not cached`() async throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fixtures/pictures")
    var file = try [UInt8](Data(contentsOf: folder.appending(path: "large-444-progressive.jpg").standardized))
    let scan = try #require(file.indices.dropLast().last { file[$0] == 0xFF && file[$0 + 1] == 0xDA })
    file.replaceSubrange((scan + file.count) / 2..<(scan + file.count) / 2 + 2, with: [0xFF, 0xD0])
    let damaged = file
    let fixture = try CommandFixture { _ in .http(200, ["Cache-Control": "max-age=600"], damaged) }
    let list = try fixture.list(["/progressive.jpg"])

    _ = try await fixture.fetch(list, "--keep-originals", "--size", "48")
    #expect(try fixture.report().map(\.status) == ["ok"])
    _ = try await fixture.fetch(list, "--keep-originals", "--size", "700", "--fail-on", "none")
    #expect(try fixture.report().contains { $0.warnings.contains { $0.contains("corrupt") } })

    _ = try await fixture.fetch(list, "--keep-originals", "--size", "700")
    #expect(try fixture.report().map(\.code) == ["decode_error"])
  }

  @Test func `A failure because of a warning is not cached`() async throws {
    let text = SampleImage.pngChunk("tEXt", Array("Title\0x".utf8))
    let flawed = Self.whole.prefix(33) + text.dropLast() + [text.last.map { $0 ^ 1 } ?? 0] + Self.whole.dropFirst(33)
    let fixture = try CommandFixture { _ in .http(200, ["Cache-Control": "max-age=600"], Array(flawed)) }
    let list = try fixture.list(["/flawed.png"])

    _ = try await fixture.fetch(list, "--fail-on", "warning")
    #expect(try fixture.report().map(\.code) == ["decode_error"])

    _ = try await fixture.fetch(list)
    #expect(try fixture.report().map(\.status) == ["ok"])
  }
}
