import Foundation
import TestSupport
import Testing

@Suite("thumbs retry", .timeLimit(.minutes(20))) struct RetryCommandTests {
  @Test func `Only retryable rows are fetched again, into the files that they would have had`() async throws {
    let isHealthy = Gate()
    let fixture = try CommandFixture { request in
      switch request.target {
      case "/gone/a.png": .http(404)
      case "/busy/a.png" where !isHealthy.isOpen: .http(503)
      default: .icon()
      }
    }
    let list = try fixture.list(["/first/a.png", "/busy/a.png", "/gone/a.png", "/other/b.png"])

    #expect(try await fixture.fetch(list, "--size", "8", "--size", "16", "--fit", "cover").ending == .exit(75))

    let first = fixture.server.requests.count
    isHealthy.open()
    let second = try await fixture.run(
      "retry", "report.jsonl", "--cache-dir", fixture.cache, "--report", "second.jsonl")

    #expect(second.ending == .exit(0))
    #expect(fixture.server.requests.dropFirst(first).map(\.target) == ["/busy/a.png"])

    let rows = try ReportedRow.all(in: String(contentsOfFile: fixture.directory.path("second.jsonl"), encoding: .utf8))
    #expect(rows.map(\.index) == [1])

    // The first row has the plain name, so these names contain a hash: the same one as in a run over the manifest.
    let paths = rows.flatMap(\.paths)
    #expect(paths.count == 2 && paths[0].hasPrefix("a-8x8-") && paths[1].hasPrefix("a-16x16-"))
    #expect(ImageFile(try fixture.output(paths[0]))?.height == 8)

    let whole = try await fixture.fetch(list, "--size", "8", "--size", "16", "--fit", "cover", "--offline")
    #expect(whole.ending == .exit(1))
    #expect(try fixture.report()[1].paths == paths)
  }

  @Test func `Rows that a killed run has not reported come from the list, and then the report is whole`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { request in
      if request.target >= "/5" { gate.wait() }
      return .icon(fields: ["Cache-Control": "no-store"])
    }
    let fixture = try CommandFixture()
    let list = try fixture.list(urls: (0..<10).map { server.url("/\($0).png") })
    let running = try fixture.start(fixture.fetchArguments([list, "-s8", "--name-template", "{index}.{ext}"]))
    await eventually { ((try? fixture.text("report.jsonl")) ?? "").split(separator: "\n").count == 5 }
    running.send(SIGKILL)
    _ = await running.result()
    gate.open()

    let arguments = ["retry", "report.jsonl", "--cache-dir", fixture.cache, "-o", "out"]
    let alone = try await fixture.start(arguments).result()
    #expect(alone.ending == .exit(75) && alone.errors.contains("give the list with --list"))
    let count = server.requests.count
    let options = ["--list", list, "-s8", "--name-template", "{index}.{ext}"]
    let dry = try await fixture.start(arguments + options + ["-nq"]).result()
    #expect(dry.outputLines.count == 5 && server.requests.count == count)
    let whole = try await fixture.start(arguments + options).result()
    #expect(whole.ending == .exit(0), "\(whole.errors)")
    #expect(server.requests.dropFirst(count).map(\.target).sorted() == (5..<10).map { "/\($0).png" })
    #expect(try fixture.report().flatMap(\.paths) == (0..<10).map { "\($0).png" })
    #expect(try fixture.outputs() == (0..<10).map { "\($0).png" })
    let end = try fixture.text("report.jsonl").split(separator: "\n").last
    #expect(end?.hasPrefix(#"{"complete":true,"rows":10,"#) == true)
    let again = try await fixture.start(arguments + options).result()
    #expect(again.ending == .exit(0) && server.requests.count == count + 5)
  }

  @Test func `The list of another run is refused, and so are options for it without a list`() async throws {
    let fixture = try CommandFixture()
    #expect(try await fixture.fetch(try fixture.list(["/a.png", "/b.png"])).ending == .exit(0))
    _ = try fixture.directory.write(fixture.server.url("/other.png\n"), as: "other.txt")
    let other = try await fixture.run("retry", "report.jsonl", "--list", "other.txt", "--cache-dir", fixture.cache)
    #expect(other.ending == .exit(65) && other.errors.contains("item 1: has another URL than in the report"))
    for option in [["-s8"], ["--format", "png"], ["--mirror"], ["--url-column", "x"]] {
      let refused = try await fixture.start(["retry", "report.jsonl"] + option).result()
      #expect(refused.ending == .exit(64) && refused.errors.contains("--list"))
    }
  }

  @Test func `A dry run of a retry prints the files of the failed rows, and requests and writes nothing`() async throws
  {
    let fixture = try CommandFixture { $0.target == "/busy.png" ? .http(503) : .icon() }
    _ = try await fixture.fetch(try fixture.list(["/a.png", "/busy.png"]), "-s8,16")
    let (requests, report) = (fixture.server.requests.count, try fixture.text("report.jsonl"))

    let result = try await fixture.run("retry", "-nq", "report.jsonl", "--report", "report.jsonl")

    #expect(result.ending == .exit(0) && result.errors.isEmpty)
    let url = fixture.server.url("/busy.png")
    #expect(result.output == "out/busy-8x8.{ext}\t\(url)\nout/busy-16x16.{ext}\t\(url)\n")
    #expect(fixture.server.requests.count == requests)
    #expect(try fixture.text("report.jsonl") == report)
  }

  @Test func `A failure that the cache remembers says so, and a retry requests its URL again`() async throws {
    let isBack = Gate()
    let fixture = try CommandFixture { _ in isBack.isOpen ? .icon() : .http(404) }
    let list = try fixture.list(["/late.png"])
    for count in [1, 1] {
      #expect(try await fixture.fetch(list, "-v").ending == .exit(1))
      #expect(fixture.server.requests.count == count)
    }
    let first = try #require(try fixture.text("report.jsonl").split(separator: "\n").first)
    let line = try #require(JSONSerialization.jsonObject(with: Data(first.utf8)) as? [String: Any])
    let (time, message) = (line["rememberedSince"] as? String ?? "", line["message"] as? String ?? "")
    #expect(message == "The server responded with status 404. Remembered from \(time); no request was sent.")
    #expect(line["attempts"] as? Int == 0 && time.hasSuffix("Z"))

    isBack.open()
    let retry = try await fixture.run("retry", "--all-failed", "report.jsonl", "--cache-dir", fixture.cache)
    #expect(retry.ending == .exit(0), "\(retry.errors)")
    #expect(fixture.server.requests.count == 2)
    #expect(try fixture.outputs() == ["late.png"])
  }

  @Test func `The --all-failed option retries permanent failures and can update the report in place`() async throws {
    let fixture = try CommandFixture { $0.target == "/gone.png" ? .http(404) : .icon() }
    let list = try fixture.list(["/gone.png", "/a.png"])

    #expect(try await fixture.fetch(list).ending == .exit(1))

    let nothing = try await fixture.run("retry", "report.jsonl", "--cache-dir", fixture.cache, "--progress", "none")
    #expect(nothing.ending == .exit(0))
    #expect(
      nothing.errors.hasPrefix(
        "thumbs: Nothing to retry: 1 row is done, 1 failed permanently (retry with --all-failed).\n"))

    let all = try await fixture.run(
      "retry", "--all-failed", "report.jsonl", "--no-cache", "--report", "report.jsonl", "-o", "elsewhere")
    #expect(all.ending == .exit(1))
    #expect(try fixture.report().map { $0.code ?? $0.status } == ["http_404", "ok"])
    #expect(fixture.requestCounts == ["/gone.png": 2, "/a.png": 1])
  }

  @Test func `A retry finishes the rows that an interrupted run had read`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { $0.target == "/0.png" ? .icon() : .icon().after(gate) }
    let list = try fixture.list((0..<6).map { "/\($0).png" })
    let command = try fixture.start(fixture.fetchArguments([list]))

    await fixture.server.waitForRequests(6)
    command.send(SIGTERM)

    #expect(await command.result().ending == .exit(143))

    gate.open()
    let rest = try await fixture.run("retry", "report.jsonl", "--cache-dir", fixture.cache)

    #expect(rest.ending == .exit(0))
    #expect(try fixture.outputs() == (0..<6).map { "\($0).png" })
  }

  @Test(arguments: [SIGTERM, SIGKILL])
  func `A report that is updated in place keeps every row when a signal stops the retry`(signal: Int32) async throws {
    let (isHealthy, gate, served) = (Gate(), Gate(), Counter())
    let fixture = try CommandFixture { request in
      let number = Int(request.target.filter(\.isNumber)) ?? 0
      // Unlike 503, this status does not pause the host.
      if number < 300, !isHealthy.isOpen { return .http(500) }
      // A retry takes the rows in the order of the report, which is the order in which they finished.
      return number >= 300 || served.next() <= 20 ? .icon(number) : .icon(number).after(gate)
    }
    let list = try fixture.list((0..<400).map { "/\($0).png" })

    #expect(try await fixture.fetch(list).ending == .exit(75))

    isHealthy.open()
    let arguments = ["retry", "--report", "./report.jsonl", "report.jsonl", "--cache-dir", fixture.cache]
    let command = try fixture.start(arguments + ["--retries", "0", "--timeout", "2400"])
    await fixture.server.waitForRequests(400 + 24)
    command.send(signal)

    #expect(await command.result().ending == (signal == SIGKILL ? .signal(SIGKILL) : .exit(143)))

    gate.open()
    let interrupted = try fixture.report()

    #expect(interrupted.map(\.index) == Array(0..<400))

    let done = interrupted.filter { $0.status == "ok" }.count
    #expect(try done == (signal == SIGKILL ? 100 : fixture.outputs().count))

    #expect(try await fixture.start(arguments).result().ending == .exit(0))
    #expect(try fixture.report().map(\.index) == Array(0..<400))
    #expect(try fixture.report().allSatisfy { $0.status == "ok" })
    #expect(try fixture.directory.files().filter { $0.hasPrefix(".") } == [])
  }

  private static let doneLine = "{\"index\":7,\"name\":\"kept\",\"status\":\"ok\"}"

  /// Returns a fixture whose report contains one row with a temporary failure.
  private func failedOnce() async throws -> CommandFixture {
    let fixture = try CommandFixture { $0.fields["x-well"] == nil ? .http(503) : .icon() }
    #expect(try await fixture.fetch(try fixture.list(["/a.png"])).ending == .exit(75))
    return fixture
  }

  private func retryInPlace(_ fixture: CommandFixture, _ options: String...) async throws -> CommandResult {
    let arguments = [
      "retry", "report.jsonl", "--report", "report.jsonl", "--cache-dir", fixture.cache, "--retries", "0",
    ]
    return try await fixture.start(arguments + options).result()
  }

  @Test func `An update keeps a complete last line without a line feed and drops a truncated one`() async throws {
    let fixture = try await failedOnce()
    // Without the line that proves that the report is whole, rows may be missing, so each retry exits with 75.
    let failed = try String(#require(fixture.text("report.jsonl").split(separator: "\n").first)) + "\n"
    _ = try fixture.directory.write(failed + Self.doneLine, as: "report.jsonl")

    #expect(try await retryInPlace(fixture, "--header", "X-Well: yes").ending == .exit(75))
    #expect(try fixture.report().map(\.index) == [0, 7])

    _ = try fixture.directory.write(failed + Self.doneLine.dropLast(5), as: "report.jsonl")
    #expect(try await retryInPlace(fixture, "--header", "X-Well: yes").ending == .exit(75))
    #expect(try fixture.report().map(\.index) == [0])

    // The report stays marked as partial, also after the next update.
    for _ in 0..<2 {
      #expect(try ReportedRow.isPartial(fixture.text("report.jsonl")))
      #expect(try await retryInPlace(fixture).ending == .exit(75))
    }
  }

  @Test func `A row whose retry is interrupted keeps its old line with the cause of the failure`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { $0.fields["x-slow"] == nil ? .http(503) : .icon().after(gate) }

    #expect(try await fixture.fetch(try fixture.list(["/a.png"])).ending == .exit(75))

    let before = try fixture.text("report.jsonl")
    let command = try fixture.start([
      "retry", "report.jsonl", "--report", "report.jsonl", "--cache-dir", fixture.cache, "--header", "X-Slow: yes",
      "--timeout", "2400",
    ])
    await fixture.server.waitForRequests(2)
    // A second retry at the same time is rejected and changes nothing.
    let second = try await retryInPlace(fixture)

    #expect(second.ending == .exit(73) && second.errors.contains("changed by another process"))

    command.send(SIGTERM)
    #expect(await command.result().ending == .exit(143))

    gate.open()
    #expect(try fixture.text("report.jsonl") == before)
  }

  @Test func `A report that another process changes during the update is not replaced`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { $0.fields["x-slow"] == nil ? .http(503) : .icon().after(gate) }

    #expect(try await fixture.fetch(try fixture.list(["/a.png"])).ending == .exit(75))

    let command = try fixture.start([
      "retry", "report.jsonl", "--report", "report.jsonl", "--cache-dir", fixture.cache, "--header", "X-Slow: yes",
      "--timeout", "2400",
    ])
    await fixture.server.waitForRequests(2)
    let changed = try fixture.text("report.jsonl") + Self.doneLine + "\n"
    _ = try fixture.directory.write(changed, as: "report.jsonl")
    gate.open()

    #expect(await command.result().ending == .exit(74))
    #expect(try fixture.text("report.jsonl") == changed)
  }

  @Test func `Without --report, the report is updated, even through a link`() async throws {
    let fixture = try await failedOnce()
    let link = fixture.directory.path("link.jsonl")
    try #require(symlink("report.jsonl", link) == 0)
    let arguments = ["retry", "link.jsonl", "--cache-dir", fixture.cache, "--header", "X-Well: yes"]

    let first = try await fixture.start(arguments).result()
    let before = try fixture.text("report.jsonl")
    let second = try await fixture.start(arguments).result()

    #expect(first.ending == .exit(0) && second.ending == .exit(0))
    #expect(first.errors.hasPrefix("thumbs: Retrying 1 row: 0 rows are done. The files go to out.\n"))
    #expect(second.errors.hasPrefix("thumbs: Nothing to retry: 1 row is done.\n"))
    #expect(try fixture.report().map(\.status) == ["ok"] && fixture.text("report.jsonl") == before)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "report.jsonl")
  }

  @Test func `Without --report, a compressed report is retried but not updated`() async throws {
    let fixture = try await failedOnce()
    let packed = try gzipped(fixture.text("report.jsonl"))
    _ = try fixture.directory.write(packed, as: "report.jsonl.gz")

    let result = try await fixture.run(
      "retry", "report.jsonl.gz", "--cache-dir", fixture.cache, "--header", "X-Well: yes")

    #expect(result.ending == .exit(0))
    #expect(result.errors.contains("thumbs: The report is not updated. report.jsonl.gz is compressed"))
    #expect(try Array(fixture.data("report.jsonl.gz")) == packed)
    #expect(try fixture.outputs() == ["a.png"])
  }

  @Test func `A compressed report cannot be updated in place`() async throws {
    let fixture = try await failedOnce()
    let packed = try gzipped(fixture.text("report.jsonl"))
    _ = try fixture.directory.write(packed, as: "report.jsonl")

    #expect(try await retryInPlace(fixture).ending == .exit(73))
    #expect(try Array(fixture.data("report.jsonl")) == packed)
  }

  @Test func `A report on a full disk has only complete lines and is marked as partial`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list((0..<400).map { "/\($0).png" })
    let small =
      "mkdir small; exec unshare -m sh -c 'mount -t tmpfs -o size=32k none small && \"$0\" \"$@\"; "
      + "code=$?; cat small/report.jsonl; exit $code' \"$0\" \"$@\""

    let full = try await fixture.start(
      fixture.fetchArguments([list], report: "small/report.jsonl"), setup: small
    ).result()

    #expect(full.ending == .exit(74))
    #expect(full.output.hasSuffix("\n{\"complete\":false}\n"))

    let lines = full.output.split(separator: "\n")
    #expect(lines.count > 40 && lines.allSatisfy { (try? JSONSerialization.jsonObject(with: Data($0.utf8))) != nil })
  }

  @Test func `Rows that failed because the disk was full are retried`() async throws {
    let fixture = try CommandFixture { .icon(Int($0.target.filter(\.isNumber)) ?? 0) }
    let list = try fixture.list((0..<60).map { "/\($0).png" })
    let arguments = fixture.fetchArguments([list, "--enlarge", "--size", "300", "--format", "png"])
    let small =
      "mkdir out; exec unshare -m sh -c 'mount -t tmpfs -o size=256k none out && exec \"$0\" \"$@\"' \"$0\" \"$@\""

    let full = try await fixture.start(arguments, setup: small).result()

    #expect(full.ending == .exit(74))
    #expect(full.errors.contains("No space left on device"))

    let codes = try fixture.report().compactMap(\.code)
    #expect(
      codes.filter { $0 == "output_unavailable" }.count >= 1 && Set(codes) == ["output_unavailable", "cancelled"])

    let done = try fixture.report().filter { $0.status == "ok" }.count
    #expect(done > 0)
    #expect(try await fixture.run("retry", "report.jsonl", "--cache-dir", fixture.cache).ending == .exit(0))
    #expect(try fixture.outputs().count == 60 - done)
  }

  @Test func `A retry reads a report line of several megabytes`() async throws {
    let isHealthy = Gate()
    let fixture = try CommandFixture { _ in isHealthy.isOpen ? .icon() : .http(503) }
    let name = String(repeating: "\u{1}", count: 700_000)
    let row = ["url": fixture.server.url("/a.png"), "name": name]
    _ = try fixture.directory.write(Array(JSONSerialization.data(withJSONObject: [row])), as: "list.json")

    #expect(try await fixture.fetch("list.json").ending == .exit(75))
    #expect(try fixture.text("report.jsonl").utf8.count > 4 << 20)

    isHealthy.open()
    #expect(try await fixture.run("retry", "report.jsonl", "--cache-dir", fixture.cache).ending == .exit(0))
  }

  @Test(arguments: [
    (["retry", "none.jsonl"], 65, "there is no such file"), (["retry", "list.txt"], 65, "not a report line"),
    (["retry", "report.jsonl", "--name", "{stem}.{ext}"], 64, "retry uses the settings in the report"),
  ])
  func `A retry rejects an unreadable report and the --name option`(
    arguments: [String], code: Int32, text: String
  ) async throws {
    let fixture = try CommandFixture()
    _ = try fixture.list(["/a.png"])

    let result = try await fixture.start(arguments).result()

    #expect(result.ending == .exit(code))
    #expect(result.errors.contains(text))
  }
}
