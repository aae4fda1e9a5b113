import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch: columns of a manifest", .timeLimit(.minutes(20))) struct ManifestColumnTests {
  @Test func `Sizes, header fields and mirrors of a row apply only to that row`() async throws {
    let fixture = try CommandFixture { request in
      switch request.target {
      case let path where path.hasPrefix("/gone.png"): .http(404)
      case "/hot.png" where request.fields["referer"] != "http://own/": .http(403)
      default: .icon()
      }
    }
    let rows = [
      ["url": fixture.server.url("/plain.png")],
      ["url": fixture.server.url("/two.png"), "size": "8 8x4@2x"],
      ["url": fixture.server.url("/hot.png"), "headers": "Referer: http://own/"],
      ["url": fixture.server.url("/hot.png")],
      [
        "url": fixture.server.url("/gone.png"),
        "urls": fixture.server.url("/gone.png?2 ") + fixture.server.url("/there.png"),
      ],
    ]
    try JSONSerialization.data(withJSONObject: rows)
      .write(to: URL(fileURLWithPath: fixture.directory.path("list.json")))

    let result = try await fixture.fetch("list.json", "--size", "16")

    #expect(result.ending == .exit(1))

    let report = try fixture.report()
    #expect(report.map(\.code) == [nil, nil, nil, "http_403", nil])
    #expect(
      report.map(\.paths) == [
        ["plain.png"], ["two-8x8.png", "two-8x4@2x.png"], ["hot.png"], [], ["gone.png"],
      ])
    #expect(ImageFile(try fixture.output("two-8x8.png"))?.width == 8)
    #expect(ImageFile(try fixture.output("plain.png"))?.width == 16)
    #expect(try String(contentsOfFile: fixture.directory.path("report.jsonl"), encoding: .utf8).contains("/there.png"))
  }

  @Test func `The focus of a row chooses its crop, and an invalid one fails only that row`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { _ in
      .http(200, ["Content-Type": "image/png"], SampleImage.png(width: 64, height: 16)).after(gate)
    }
    let url = fixture.server.url("/a.png")
    let rows = ["west", "", "100% 50%", "smart", "top"].map { "\(url),\($0)\n" }
    _ = try fixture.directory.write("url,focus\n" + rows.joined(), as: "list.csv")

    let result = try await fetchTogether(
      ["list.csv", "--size", "16", "--fit", "cover", "--gravity", "east"], in: fixture, opening: gate)
    #expect(result.ending == .exit(1))

    let report = try ReportedRow.all(in: result.output)
    #expect(report.map(\.code) == [nil, nil, nil, nil, "bad_row"])
    #expect(fixture.server.requests.count == 1)
    let files = try report.dropLast().map { try fixture.output(try #require($0.paths.first)) }
    // The image is opaque at its left edge and almost transparent at its right one.
    #expect(files[0] != files[1] && files[1] == files[2] && files[3] != files[1])
    #expect(Set(report.flatMap(\.paths)).count == 4)
    #expect(result.output.contains("line 6: focus: give center,"))
    #expect(result.output.contains("(--focus-column none ignores"))
  }

  /// Fetches a list whose last row fails at once. When it is in the report, all rows before it have begun, and `gate`
  /// lets the server respond.
  private func fetchTogether(
    _ arguments: [String], in fixture: CommandFixture, opening gate: Gate
  ) async throws -> CommandResult {
    let command = try fixture.start(fixture.fetchArguments(arguments, report: "-"))
    await command.output.waitForLines(1)
    gate.open()
    return await command.result()
  }

  @Test(arguments: [
    "Content-Length", "Transfer-Encoding", "connection", "Keep-Alive", "Proxy-Authorization", "TE", "Trailer",
    "Upgrade", "Expect", "HTTP2-Settings", "Range", "If-Range", "if-none-match", "If-Modified-Since",
  ])
  func `A reserved header field is a bad row or a usage error`(name: String) async throws {
    let fixture = try CommandFixture()
    let (good, bad) = (fixture.server.url("/good.png"), fixture.server.url("/bad.png"))
    let text =
      "{\"url\":\"\(bad)\",\"headers\":{\"\(name)\":\"60\"}}\n"
      + "{\"url\":\"\(good)\",\"headers\":{\"Host\":\"a.example\"}}\n"
    _ = try fixture.directory.write(text, as: "list.jsonl")

    #expect(try await fixture.fetch("list.jsonl").ending == .exit(1))
    #expect(try fixture.report().map(\.code) == ["bad_row", nil])
    #expect(fixture.server.requests.map(\.target) == ["/good.png"])
    #expect(fixture.server.requests.first?.fields["host"] == "a.example")

    let result = try await fixture.fetch("--header", "\(name): 60", "list.jsonl")
    #expect(result.ending == .exit(64))
    #expect(result.errors.contains("\(name) is set by thumbs itself"))
  }

  @Test func `An unrelated column with the name of an option column can be ignored or renamed`() async throws {
    let fixture = try CommandFixture()
    let url = fixture.server.url("/a.png")
    let list = "url,size,priority,headers,depends,urls,px\n\(url),48213,P1,12,a b,x,8\n"
    _ = try fixture.directory.write(list, as: "list.csv")

    let refused = try await fixture.fetch("list.csv", "--size", "16")

    #expect(refused.ending == .exit(1))

    let message = try String(contentsOfFile: fixture.directory.path("report.jsonl"), encoding: .utf8)
    #expect(
      message.contains(
        "size: each side must be 1 to 16384 pixels after scaling (--size-column none ignores the column)"))

    let none = ["size", "priority", "headers", "depends", "urls"].flatMap { ["--\($0)-column", "none"] }
    let ignored = try await fixture.start(fixture.fetchArguments(["list.csv", "--size", "16"] + none)).result()

    #expect(ignored.ending == .exit(0))
    #expect(ImageFile(try fixture.output("a.png"))?.width == 16)

    let renamed = try await fixture.start(
      fixture.fetchArguments(["list.csv", "--size", "16"] + none + ["--size-column", "px"])
    ).result()
    #expect(renamed.ending == .exit(0))
    #expect(ImageFile(try fixture.output("a.png"))?.width == 8)
  }

  @Test func `A row with more fields than the header row is a bad row`() async throws {
    let fixture = try CommandFixture()
    let url = fixture.server.url("/a")
    let list = "name,url\nA,\(url),b.png\nB,\"\(url),b.png\"\nC,\(url).png,,\nD\n"
    _ = try fixture.directory.write(list, as: "list.csv")

    #expect(try await fixture.fetch("list.csv").ending == .exit(1))

    let rows = try fixture.report()
    #expect(rows.map(\.code) == ["bad_row", nil, nil, "bad_row"])
    #expect(fixture.server.requests.map(\.target).sorted() == ["/a,b.png", "/a.png"])

    let report = try String(contentsOfFile: fixture.directory.path("report.jsonl"), encoding: .utf8)
    #expect(
      report.contains(
        "list.csv, line 2: 3 fields, but the header row has 2; put a field that contains a comma in quotes."))
  }

  @Test func `The rows of a JSON array on standard input are fetched before its end`() async throws {
    let fixture = try CommandFixture()
    let command = try fixture.start(fixture.fetchArguments(["-"], report: "-"), input: .pipe)

    command.write("[\"\(fixture.server.url("/a.png"))\"")
    command.write(",")
    await fixture.server.waitForRequests(1)
    await command.output.waitForLines(1)
    command.write("{\"url\":\"\(fixture.server.url("/b.png"))\"}, 1")
    command.closeInput()
    let result = await command.result()

    #expect(result.ending == .exit(65))
    #expect(result.errors.contains("standard input, line 1: the JSON ends unexpectedly."))
    #expect(try ReportedRow.all(in: result.output).map(\.paths) == [["a.png"], ["b.png"]])
  }

  @Test func `Rows with the same URL and different sizes have different files`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { _ in .icon().after(gate) }
    let url = fixture.server.url("/a.png")
    _ = try fixture.directory.write("url,size\n\(url),8\n\(url),16\n\(url),8\nhttp://[,8\n", as: "list.csv")

    let result = try await fetchTogether(["list.csv"], in: fixture, opening: gate)

    let report = try ReportedRow.all(in: result.output)
    #expect(report.map(\.code) == [nil, nil, nil, "bad_url"])
    #expect(report[0].paths == ["a.png"])
    #expect(report[0].paths == report[2].paths)

    let widths = try [0, 1].map { ImageFile(try fixture.output(try #require(report[$0].paths.first)))?.width }
    #expect(widths == [8, 16])
    #expect(fixture.server.requests.count == 1)
  }

  @Test func `The rows of a compressed manifest are fetched before its end`() async throws {
    let fixture = try CommandFixture()
    // The first member is a complete compressed file of one line.
    let first = try gzipped(fixture.server.url("/a.png") + "\n")
    let second = try gzipped(fixture.server.url("/b.png") + "\n")
    let command = try fixture.start(fixture.fetchArguments(["-"], report: "-"), input: .pipe)

    command.write(first)
    await fixture.server.waitForRequests(1)
    await command.output.waitForLines(1)
    command.write(second)
    command.closeInput()
    let result = await command.result()

    #expect(result.ending == .exit(0))
    #expect(try ReportedRow.all(in: result.output).map(\.paths) == [["a.png"], ["b.png"]])
  }

  @Test func `Relative URLs are files in the manifest's directory, and only with --allow-file`() async throws {
    let fixture = try CommandFixture()
    let lists = fixture.directory.path("lists")
    try FileManager.default.createDirectory(atPath: lists, withIntermediateDirectories: true)
    _ = try fixture.directory.write(SampleImage.png(width: 9, height: 9), as: "lists/a #1.png")
    _ = try fixture.directory.write("a #1.png\n", as: "lists/list.txt")

    #expect(try await fixture.fetch("lists/list.txt").ending == .exit(1))
    #expect(try fixture.report().map(\.code) == ["bad_url"])
    #expect(try await fixture.fetch("lists/list.txt", "--allow-file").ending == .exit(0))
    #expect(try fixture.report().map(\.origin) == ["file"])
    #expect(try fixture.outputs() == ["a #1.png"])
  }

  @Test func `A row starts when the earlier rows that it depends on have succeeded or failed`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { request in
      switch request.target {
      case "/slow.png": .http(404).after(gate)
      default: .icon()
      }
    }
    func row(_ path: String, _ depends: String) -> String {
      "\(path.dropFirst()),\(fixture.server.url(path)),\(depends)\n"
    }
    let list =
      "name,url,depends\n" + row("/slow.png", "") + row("/by-name.png", "slow.png")
      + row("/by-url.png", fixture.server.url("/slow.png")) + row("/free.png", "nobody")
      + row("/self.png", "self.png")
    _ = try fixture.directory.write(list, as: "list.csv")
    let command = try fixture.start(fixture.fetchArguments(["list.csv"], report: "-"))

    await command.output.waitForLines(2)

    #expect(Set(fixture.server.requests.map(\.target)) == ["/slow.png", "/free.png", "/self.png"])

    gate.open()
    let result = await command.result()

    #expect(result.ending == .exit(1))

    let rows = try ReportedRow.all(in: result.output)
    #expect(rows.map(\.status) == ["failed", "ok", "ok", "ok", "ok"])
  }
}
