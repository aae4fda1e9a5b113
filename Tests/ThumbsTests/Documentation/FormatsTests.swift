import Foundation
import GRDB
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads
@testable import thumbs

/// A section of `Documentation/formats.md`.
private struct FormatsPage {
  /// The first and last cells of each row of the section's table.
  let rows: [(name: String, meaning: String)]

  init(section: String) throws {
    let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Documentation/formats.md")
    let text = try String(contentsOf: path, encoding: .utf8)
    let sections = text.components(separatedBy: "\n## ").filter { $0.hasPrefix(section) }
    try #require(sections.count == 1)
    rows = sections[0].split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
      let cells = line.dropFirst().dropLast().split(separator: " | ").map { $0.trimmingCharacters(in: .whitespaces) }
      return (cells[0].replacing("`", with: ""), cells[cells.count - 1])
    }
  }

  /// The names of the fields that the meaning of `name` lists. Text in parentheses, such as values, is ignored.
  func fields(of name: String) throws -> Set<String> {
    let meaning = try #require(rows.first { $0.name == name }?.meaning)
    let names = meaning.replacing(/\([^)]*\)/, with: "").matches(of: /`([A-Za-z0-9]+)`/).map { String($0.1) }
    guard meaning.contains("those of `") else { return Set(names) }
    return try Set(names.dropFirst()).union(fields(of: names[0]))
  }
}

/// The field names of JSON objects and of the objects nested in them.
private struct WrittenFields {
  private(set) var names: Set<String> = []
  private(set) var inside: [String: Set<String>] = [:]
  var all: Set<String> { inside.values.reduce(names) { $0.union($1) } }

  init(_ texts: [String]) throws {
    for text in texts { add(try JSONSerialization.jsonObject(with: Data(text.utf8))) }
  }

  private mutating func add(_ value: Any, in field: String? = nil) {
    for element in value as? [Any] ?? [value] {
      guard let object = element as? [String: Any] else { continue }
      if let field { inside[field, default: []].formUnion(object.keys) } else { names.formUnion(object.keys) }
      for (name, value) in object { add(value, in: field ?? name) }
    }
  }
}

@Suite("Documentation/formats.md", .timeLimit(.minutes(20))) struct FormatsTests {
  @Test func `The failure codes are exactly the documented ones`() throws {
    let documented = try FormatsPage(section: "Codes").rows.map(\.name)
    #expect(Set(documented).count == documented.count)
    #expect(Set(documented) == Set(FailureCode.declared.map(\.description)).union(["http_NNN"]))
  }

  /// Runs `fetch` for a redirected image, a failure with everything that a retry needs, and a busy host, all from a CSV
  /// file.
  private static func run() async throws -> CommandFixture {
    let fixture = try CommandFixture { request in
      switch request.target {
      case "/moved.png": .http(302, ["Location": "/a.png"])
      case "/a.png":
        .icon(fields: [
          "Cache-Control": "max-age=60, stale-if-error=60", "ETag": "\"a\"", "Vary": "Accept",
          "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
        ])
      case "/busy.png": .http(429, ["Retry-After": "1"])
      case "/page": .http(200, [:], Array("<html><meta property=og:image content=/a.png>".utf8))
      case "/empty": .http(200, [:], Array("<html>".utf8))
      default: .http(404)
      }
    }
    let gone = fixture.server.url("/gone.png")
    let list =
      "name,url,headers,urls,sha256\nA,\(fixture.server.url("/moved.png")),,,\n"
      + "B,\(gone),X-A: 1,\(gone)?2,\(BodyDigest(of: []))\nC,\(fixture.server.url("/busy.png")),,,\n"
    _ = try fixture.directory.write(list, as: "list.csv")
    _ = try fixture.directory.write("", as: "none.txt")
    _ = try fixture.directory.write(SampleImage.png(width: 9, height: 9), as: "fallback.png")
    let result = try await fixture.fetch(
      "list.csv", "none.txt", "--placeholders", "--phash", "--summary", "summary.json", "--fallback", "fallback.png",
      "--remote-cache",
      fixture.server.url("/store"), "--remote-cache-private")
    #expect(result.ending == .exit(75))
    return fixture
  }

  @Test func `The fields of the report are exactly the documented ones`() async throws {
    let fixture = try await Self.run()
    var report = try fixture.text("report.jsonl")
    // The failure of the second row is remembered.
    #expect(try await fixture.fetch("list.csv", "none.txt").ending == .exit(75))
    report += try fixture.text("report.jsonl")
    let pages = ["/page", "/empty"].map(fixture.server.url)
    #expect(try await fixture.fetch(pages[0], pages[1], "--find", "preview").ending == .exit(1))
    report += try fixture.text("report.jsonl")
    // The second and the third row wait for the rate, and share a request.
    let urls = ["/gone.png?1", "/gone.png?2", "/gone.png?2"].map(fixture.server.url)
    #expect(try await fixture.fetch(urls[0], urls[1], urls[2], "--rate", "1/s").ending == .exit(1))
    report += try fixture.text("report.jsonl")
    let lines = report.split(separator: "\n").map(String.init)
    let written = try WrittenFields(lines.filter { $0.hasPrefix("{\"index\":") })
    let page = try FormatsPage(section: "The report")

    #expect(written.names == Set(page.rows.map(\.name)))
    for (name, fields) in written.inside {
      let documented = try page.fields(of: name)
      #expect(fields == documented, "\(name)")
    }
  }

  @Test func `The members of a group of duplicates are exactly the documented ones`() async throws {
    let fixture = try CommandFixture { _ in .http(200, [:], SampleImage.jpeg(width: 90, height: 60)) }
    #expect(try await fixture.fetch(try fixture.list(["/a.jpg", "/b.jpg"]), "--phash").ending == .exit(0))
    let output = try await fixture.run("report", "duplicates", "--json", "report.jsonl").output
    let written = try WrittenFields([output])
    let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Documentation/formats.md")
    let page = try String(contentsOf: path, encoding: .utf8)
    let section = try #require(page.components(separatedBy: "With `--json`, a group is").dropFirst().first)
    let sentence = section.prefix(while: { $0 != "." })
    let documented = Set(sentence.matches(of: /`([A-Za-z0-9]+)`/).map { String($0.1) })

    #expect(written.names == ["rows", "keep", "others"])
    #expect(written.inside["keep"]?.union(["distance"]) == written.inside["others"])
    #expect(written.all == documented)
  }

  @Test func `The members of the last line of a report are exactly the documented ones`() async throws {
    let list = ListEnd(rows: 1, digest: "0", shard: Shard(number: 1, count: 1, key: .host))
    let lines = [Coverage.complete.json(items: 1, of: list), Coverage.partial(rows: 1).json(items: 1)]
    let written = try WrittenFields(lines.map { String(decoding: $0, as: UTF8.self) })
    let documented = try FormatsPage(section: "The last line of a report").rows.flatMap {
      $0.name.split(separator: ", ")
    }

    #expect(written.names == Set(documented.map(String.init)))
  }

  @Test func `The fields of the summary are exactly the documented ones`() async throws {
    let fixture = try await Self.run()
    let written = try WrittenFields([String(contentsOfFile: fixture.directory.path("summary.json"), encoding: .utf8)])
    let page = try FormatsPage(section: "The summary")

    #expect(written.names == Set(page.rows.map(\.name)))

    let nested = try Set(page.rows.flatMap { try page.fields(of: $0.name) })
    #expect(written.all.subtracting(written.names).isSubset(of: nested))
    #expect(nested.isSubset(of: written.all))
  }

  @Test func `The metrics are exactly the documented ones`() async throws {
    let fixture = try await Self.run()
    #expect(
      try await fixture.fetch(
        "list.csv", "--metrics", "thumbs.prom", "--remote-cache", fixture.server.url("/store"), "--remote-cache-private"
      ).ending == .exit(75))
    let metrics = try fixture.text("thumbs.prom").split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
    let documented = try FormatsPage(section: "Metrics").rows.map(\.name)

    #expect(Set(metrics.map { String($0.split(separator: " ")[2]) }) == Set(documented))
    #expect(Set(MetricHelp.texts.keys) == Set(documented))
  }

  @Test(arguments: ["stats", "ls", "show", "verify"])
  func `The fields of the cache commands are exactly the documented ones`(command: String) async throws {
    let fixture = try await Self.run()

    #expect(try await fixture.cacheCommand("limit", "1GiB").ending == .exit(0))

    let listed = try await fixture.cacheCommand("ls", "--format", "tsv").output.split(separator: "\n").dropFirst()
    let keys = listed.map { String($0.prefix { $0 != "\t" }) }
    let arguments = command == "show" ? keys.map { [$0, "--explain"] } : [[]]
    if command == "verify" {
      try await DatabaseQueue(path: fixture.cache + "/g000001/cache.db").write {
        try $0.execute(sql: "UPDATE item SET record = zeroblob(length(record)) WHERE id % 32768 = 0")
      }
    }
    if command == "stats" {
      // A run that lost a hit, as a small limit would cause.
      let runs = try fixture.text("cache/RUNS")
      try ("1790000009 0 1 1 1 0 0 1790000000 1 1 1048576\n" + runs).write(
        toFile: fixture.cache + "/RUNS", atomically: false, encoding: .utf8)
    }
    let page = try FormatsPage(section: "`thumbs cache")
    for format in ["json", "jsonl"] {
      var texts: [String] = []
      for more in arguments {
        let result = try await fixture.start(
          ["cache", command, "--format", format, "--cache-dir", fixture.cache] + more
        ).result()
        texts += format == "json" ? [result.output] : result.output.split(separator: "\n").map(String.init)
      }
      let (written, documented) = (try WrittenFields(texts).all, try page.fields(of: command))
      #expect(written == documented)
    }
    let separated = try await fixture.start(
      ["cache", command, "--format", "tsv", "--cache-dir", fixture.cache] + (arguments.last ?? [])
    ).result()
    let head = separated.output.prefix { $0 != "\n" }.split(separator: "\t").map(String.init)
    let documented = try page.fields(of: command)

    if command != "verify" { #expect(Set(head).isSubset(of: documented), "\(head)") }
  }
}

extension FailureCode {
  /// The codes of all layers, without those of HTTP statuses.
  static let declared = ofRequests + ofThumbnails + [.outputExists, .noImageFound]
}
