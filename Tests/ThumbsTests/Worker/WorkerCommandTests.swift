import BatchFetch
import Foundation
import TestSupport
import Testing

@testable import thumbs

@Suite("thumbs worker", .timeLimit(.minutes(20))) struct WorkerCommandTests {
  @Test func `Every row gets one result with its thumbnails, and a record counts them at the end`() async throws {
    let fixture = try CommandFixture { $0.target == "/gone.png" ? .http(404) : .icon() }
    let url = fixture.server.url("/b.png")
    let sizes = #"{"id":"two","url":"\#(url)","size":["20","8"],"name":"Two","headers":{"X-A":"1"},"other":[1]}"#

    let (ending, results) = try await fixture.work([
      fixture.row(1, "/a.png"), sizes, "", fixture.row(-3, "/gone.png"),
    ])

    #expect(ending == .exit(0))
    #expect(results.records.count == 3 && results.end.map { [$0.received, $0.finished] } == [3, 3])
    #expect(results.restCount == 0)
    let first = try #require(results.result("1"))
    #expect(first.status == "ok" && first.header["index"] as? Int == 0 && first.line == 1)
    #expect(first.bodies.map { ThumbnailBytes.width(of: $0) } == [16])
    let second = try #require(results.result("\"two\""))
    #expect(second.header["name"] as? String == "Two")
    #expect(second.bodies.map { ThumbnailBytes.width(of: $0) } == [20, 8])
    let outputs = try #require(second.header["outputs"] as? [[String: Any]])
    #expect(outputs.map { $0["spec"] as? String } == ["20x20", "8x8"] && outputs.allSatisfy { $0["path"] == nil })
    #expect(outputs.map { $0["bytes"] as? Int } == second.bodies.map(\.count))
    #expect(fixture.server.requests.contains { $0.fields["x-a"] == "1" })
    let gone = try #require(results.result("-3"))
    #expect(gone.code == "http_404" && gone.bodies.isEmpty && gone.line == 4 && gone.header["index"] as? Int == 2)
    #expect(results.records.allSatisfy { $0.header["again"] == nil })
  }

  @Test func `A bad line fails alone, with its number, and with its id if that can be used`() async throws {
    let fixture = try CommandFixture()
    let good = fixture.server.url("/a.png")
    let lines = [
      fixture.row(1, "/a.png"), "nope", #"{"url":"\#(good)"}"#, #"{"id":true,"url":"\#(good)"}"#,
      #"{"id":1.5,"url":"\#(good)"}"#, #"{"id":1,"url":"\#(good)"}"#, "[1]", #"{"id":8}"#,
      #"{"id":9,"url":"\#(good)","size":"big"}"#, #"{"id":"\#(String(repeating: "x", count: 1 << 20))"}"#,
      #"{"id":9223372036854775808,"url":"\#(good)"}"#, String(repeating: "[", count: 10_000), fixture.row(13, "/b.png"),
      #"{"id":"\ud800","url":"\#(good)"}"#,
      #"{"id":15,"url":"\#(good)","size":"\#(String(repeating: "8 ", count: 65))"}"#,
    ]

    let (ending, results) = try await fixture.work(lines)

    #expect(ending == .exit(0))
    #expect(results.records.count == lines.count && results.end?.received == lines.count)
    #expect(Set(results.records.compactMap(\.line)) == Set(1...lines.count))
    let failed = results.records.filter { $0.code == "bad_row" }
    #expect(Set(failed.compactMap(\.line)) == Set(2...12).union(14...15))
    #expect(Set(failed.compactMap(\.id)) == ["8", "9", "15"])
    #expect(results.result("1")?.status == "ok" && results.result("13")?.status == "ok")
    let messages = failed.compactMap { $0.header["message"] as? String }
    #expect(messages.contains { $0.contains("line 6: an earlier row has the same id") })
    #expect(messages.contains { $0.contains("line 14: the id is not valid Unicode, or contains U+FFFD") })
    #expect(messages.contains { $0.contains("line 15: size: give at most 64 sizes") })
    #expect(messages.contains { $0.contains("line 9: size: give a size") && !$0.contains("--size-column") })
  }

  @Test func `The focus of a row chooses the crop of its thumbnail`() async throws {
    let image = SampleImage.png(width: 64, height: 16)
    let fixture = try CommandFixture { _ in .http(200, ["Content-Type": "image/png"], image) }
    let url = fixture.server.url("/a.png")
    let rows = ["west", "east", "100%,50%", "top"].enumerated().map { id, focus in
      #"{"id":\#(id),"url":"\#(url)","focus":"\#(focus)"}"#
    }

    let (ending, results) = try await fixture.work(rows, "--fit", "cover", "--gravity", "west")

    #expect(ending == .exit(0))
    let bodies = (0..<4).map { results.result("\($0)")?.bodies }
    #expect(bodies[0]?.count == 1 && bodies[0] != bodies[1] && bodies[1] == bodies[2] && bodies[3] == [])
    let message = results.result("3")?.header["message"] as? String
    #expect(message?.contains("line 4: focus: give center") == true && message?.contains("--focus-column") == false)
  }

  @Test func `A string and a number, and two spellings of a letter, are different ids`() async throws {
    let fixture = try CommandFixture()
    let url = fixture.server.url("/a.png")

    let (_, results) = try await fixture.work(
      ["1", "\"1\"", "\"\u{E9}\"", "\"e\u{301}\"", "\"\""].map { #"{"id":\#($0),"url":"\#(url)"}"# })

    #expect(results.records.count == 5 && results.records.allSatisfy { $0.status == "ok" })
    let ids = results.records.compactMap { ($0.header["id"] as? String).map { Array($0.utf8) } }
    #expect(Set(ids) == [[0x31], Array("\u{E9}".utf8), Array("e\u{301}".utf8), []])
  }

  @Test func `An environment without variables is enough`() async throws {
    let fixture = try CommandFixture()
    let command = try fixture.start(
      fixture.workerArguments(), setup: "exec env -i \"$0\" \"$@\"", input: .pipe)
    command.write(fixture.row(1, "/a.png"))
    command.closeInput()
    let result = await command.result()

    #expect(result.ending == .exit(0) && result.errors.isEmpty)
    #expect(try WorkerResults(frames: command.output.bytes).result("1")?.status == "ok")
  }

  @Test func `The downloaded file follows the thumbnails if it is wanted`() async throws {
    let fixture = try CommandFixture()
    let (_, usual) = try await fixture.work([fixture.row(1, "/a.png")])
    let (_, results) = try await fixture.work([fixture.row(1, "/a.png"), "{}"], "--original")
    let record = try #require(results.result("1"))
    let source = try #require(record.header["source"] as? [String: Any])

    #expect(record.header["original"] as? Bool == true && record.bodies.dropLast() == usual.records[0].bodies[...])
    #expect((record.header["outputs"] as? [Any])?.count == record.bodies.count - 1)
    #expect(source["bytes"] as? Int == record.bodies.last?.count)
    #expect(source["sha256"] as? String == record.bodies.last.map { BodyDigest(of: $0).description })
    #expect(results.records.first { $0.code == "bad_row" }.map { $0.header["original"] == nil } == true)
  }

  @Test(arguments: [[], ["--no-bodies"]])
  func `Lines of JSON have the same results, with the thumbnails in Base64 if they are wanted`(
    options: [String]
  ) async throws {
    let fixture = try CommandFixture()
    let (_, frames) = try await fixture.work([fixture.row(1, "/a.png")])
    let arguments = fixture.workerArguments(["--protocol", "jsonl"] + options)
    let command = try fixture.start(arguments, input: .pipe)
    command.write(fixture.row(1, "/a.png") + "\n{}\n")
    command.closeInput()
    let results = try WorkerResults(lines: await command.result().output)

    #expect(results.end.map { [$0.received, $0.finished] } == [2, 2])
    let record = try #require(results.result("1"))
    #expect(record.bodies == (options.isEmpty ? frames.records[0].bodies : []))
    #expect(record.header["bodies"] as? [Int] == record.bodies.map(\.count))
    #expect((record.header["data"] != nil) == options.isEmpty)
  }

  @Test func `Each result is written before the next row must arrive`() async throws {
    let fixture = try CommandFixture()
    let command = try fixture.start(fixture.workerArguments(["--protocol", "jsonl", "--no-bodies"]), input: .pipe)

    for id in 1...3 {
      command.write(fixture.row(id, "/\(id).png") + "\n")
      await command.output.waitForLines(id)
    }
    command.closeInput()

    #expect(await command.result().ending == .exit(0))
  }

  @Test func `The end of input ends the worker after the last result`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { _ in .icon().after(gate) }
    let command = try fixture.start(fixture.workerArguments(), input: .pipe)

    command.write(fixture.row(1, "/a.png"))
    command.closeInput()
    await fixture.server.waitForRequests(1)
    #expect(command.output.bytes.isEmpty)
    gate.open()
    #expect(await command.result().ending == .exit(0))

    #expect(try WorkerResults(frames: command.output.bytes).end?.finished == 1)
  }

  @Test func `A reader that goes away cancels what is in progress, although nothing is written`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { $0.target == "/0.png" ? .icon() : .icon().after(gate) }
    defer { gate.open() }
    let arguments = fixture.workerArguments(["--protocol", "jsonl", "--no-bodies"])
    let command = try fixture.start(arguments, input: .pipe, output: .reader(lines: 1))

    command.write((0..<10).map { fixture.row($0, "/\($0).png") + "\n" }.joined())
    let result = await command.result()

    #expect(result.ending == .exit(74) && result.errors.isEmpty)
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `A signal ends the worker without the last record`(number: Int32) async throws {
    let gate = Gate()
    let fixture = try CommandFixture { _ in .icon().after(gate) }
    defer { gate.open() }
    let command = try fixture.start(fixture.workerArguments(), input: .pipe)

    command.write(fixture.row(1, "/a.png") + "\n")
    await fixture.server.waitForRequests(1)
    command.send(number)

    #expect(await command.result().ending == .exit(128 + number))
    #expect(try WorkerResults(frames: command.output.bytes).end == nil)
  }

  @Test func `A row waits for the earlier row that it depends on`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { $0.target == "/a.png" ? .icon().after(gate) : .icon() }
    let command = try fixture.start(fixture.workerArguments(["--protocol", "jsonl", "--no-bodies"]), input: .pipe)
    let url = fixture.server.url("/b.png")

    command.write(#"{"id":1,"url":"\#(fixture.server.url("/a.png"))","name":"a"}"# + "\n")
    command.write(#"{"id":2,"url":"\#(url)","depends":"a"}"# + "\n" + fixture.row(3, "/c.png") + "\n")
    command.closeInput()
    await command.output.waitForLines(1)
    gate.open()

    let results = try WorkerResults(lines: await command.result().output)
    #expect(results.records.map(\.id) == ["3", "1", "2"])
  }

  @Test func `Frames are not written to a terminal`() async throws {
    let fixture = try CommandFixture()
    let result = try await fixture.start(fixture.workerArguments(), output: .terminal).result()

    #expect(result.ending == .exit(64) && result.errors.hasPrefix("Error: Frames are not text."))
  }

  @Test func `Input that cannot be read ends the worker without the last record`() async throws {
    let fixture = try CommandFixture()
    let result = try await fixture.start(fixture.workerArguments(), setup: "exec < .").result()

    #expect(result.ending == .exit(65) && result.output.isEmpty)
    #expect(result.errors == "thumbs: standard input: is a directory, not rows.\n")
  }

  @Test func `Input that is closed ends the worker without the last record`() async throws {
    let fixture = try CommandFixture()
    let result = try await fixture.start(fixture.workerArguments(), setup: "exec <&-").result()

    #expect(result.ending == .exit(65) && result.output.isEmpty)
    #expect(result.errors == "thumbs: standard input: cannot be read: Bad file descriptor.\n")
  }

  @Test func `Output that cannot be written ends the worker with a message`() async throws {
    let fixture = try CommandFixture()
    let command = try fixture.start(fixture.workerArguments(), setup: "exec > /dev/full", input: .pipe)
    command.write(fixture.row(1, "/a.png") + "\n")
    let result = await command.result()

    #expect(result.ending == .exit(74))
    #expect(result.errors == "thumbs: Cannot write standard output: No space left on device.\n")
  }
}

/// Reads the header of a PNG thumbnail.
enum ThumbnailBytes {
  static func width(of png: [UInt8]) -> Int? {
    guard png.starts(with: [0x89, 0x50, 0x4E, 0x47]), png.count > 24 else { return nil }
    return png[16..<20].reduce(0) { $0 << 8 | Int($1) }
  }
}
