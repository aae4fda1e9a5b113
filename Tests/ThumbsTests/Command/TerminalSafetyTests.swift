import Foundation
import TestSupport
import Testing

@testable import thumbs

/// Text that changes a terminal's title and colors, rings its bell, reverses text and starts a new line, with ESC, BEL,
/// CSI (U+009B), U+202E and a line feed.
private let attack = "\u{1B}]0;t\u{7}\u{9B}31m\u{202E}x\nthumbs: done"

@Suite("Terminal control sequences from input are never printed", .timeLimit(.minutes(20)))
struct TerminalSafetyTests {
  private static func json(_ rows: [[String: String]]) throws -> String {
    String(decoding: try JSONSerialization.data(withJSONObject: rows), as: UTF8.self)
  }

  private func expectHarmless(_ result: CommandResult) {
    for text in [result.output, result.errors] {
      #expect(
        !text.unicodeScalars.contains { $0.isUnprintable && $0 != "\n" && $0 != "\t" }, "\(text.debugDescription)")
    }
    #expect(!result.errorLines.contains { $0.hasPrefix("thumbs: done") })
  }

  /// Returns a fixture with hostile names, URLs and columns in its manifest, and hostile header fields from its server.
  private static func fixture() throws -> CommandFixture {
    let fixture = try CommandFixture { request in
      let fields = [
        "ETag": "\"\u{C2}\u{9B}31m\u{C2}\u{85}\"", "Vary": "Accept\u{C2}\u{9B}1m", "Cache-Control": "max-age=9, \u{9B}",
      ]
      return request.target.hasPrefix("/a") ? .icon(fields: fields) : .http(404)
    }
    let rows = [
      ["url": fixture.server.url("/a.png"), "name": attack], ["url": "http://h\(attack)/b.png", "name": attack],
      ["url": "http://h:\(attack)@h/b.png"], ["url": fixture.server.url("/gone/\(attack)")],
      ["url": fixture.server.url("/a.png"), "size": attack],
      ["url": fixture.server.url("/a.png"), "headers": "A\(attack): b"],
    ]
    _ = try fixture.directory.write(try json(rows), as: "list.json")
    return fixture
  }

  @Test(arguments: [["--verbose"], ["--dry-run"], ["--progress", "plain"], ["--report", "-"], ["--summary", "-"]])
  func `A run prints no control characters from names, URLs and columns`(arguments: [String]) async throws {
    let fixture = try Self.fixture()

    let result = try await fixture.start(
      ["fetch", "--cache-dir", fixture.cache, "-o", "out", "--retries", "0", "list.json"] + arguments
    ).result()

    #expect(result.errors.contains("headers: ") || result.errors.contains("most failures: "))
    expectHarmless(result)
  }

  @Test(
    arguments: [["ls"], ["show"], ["show", "--explain"], ["verify"], ["stats"], ["rm", "--dry-run"]],
    CacheOutputFormat.allCases)
  func `The cache commands print no control characters from a source`(
    arguments: [String], format: CacheOutputFormat
  ) async throws {
    let fixture = try Self.fixture()
    _ = try await fixture.fetch("list.json")
    var arguments = arguments
    if ["show", "rm"].contains(arguments[0]) { arguments.append(fixture.server.url("/a.png")) }
    if arguments[0] != "rm" { arguments += ["--format", format.rawValue] }

    expectHarmless(try await fixture.start(["cache"] + arguments + ["--cache-dir", fixture.cache]).result())
  }

  @Test(arguments: [
    "<plist>\n<array><\(attack)></array></plist>", "<\(attack)>", "<plist><\(attack)/></plist>",
    "<plist><array>\(attack)",
  ])
  func `The error for an unreadable manifest contains no control characters`(text: String) async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write(text, as: "list.plist")

    expectHarmless(try await fixture.fetch("list.plist"))
  }

  @Test(arguments: [
    ["no\(attack)"], ["--size", attack], ["--header", attack], ["--\(attack)"], ["cache", "show", attack],
    ["cache", attack],
    ["retry", attack], ["cache", "ls", "--filter", attack], ["--name", "{\(attack)}", "x"], ["fetc\u{9B}h"],
  ])
  func `The error for a wrong command line contains no control characters`(arguments: [String]) async throws {
    let fixture = try CommandFixture()

    let result = try await fixture.start(arguments).result()

    #expect(result.ending != .exit(0))
    #expect(!result.errors.unicodeScalars.contains { $0.isUnprintable && $0 != "\n" })
    #expect(!result.errors.isEmpty)
  }
}
