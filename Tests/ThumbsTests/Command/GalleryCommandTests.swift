import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch --gallery", .timeLimit(.minutes(20))) struct GalleryCommandTests {
  @Test func `The gallery shows successful and failed rows`() async throws {
    let fixture = try CommandFixture { $0.target == "/b.png" ? .http(404) : .icon() }
    let result = try await fixture.fetch(try fixture.list(["/a.png", "/b.png"]), "--gallery", "page.html")

    #expect(result.ending == .exit(1))

    let page = try String(contentsOfFile: fixture.directory.path("page.html"), encoding: .utf8)
    #expect(page.contains(#""f":"out/a.png""#) && page.contains(#""c":"http_404""#))
    #expect(try fixture.report().count == 2)
  }

  @Test func `An interrupted run writes a gallery of its finished and canceled rows`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { $0.target == "/0.png" ? .icon() : .icon().after(gate) }
    let list = try fixture.list(["/0.png", "/1.png"])
    let command = try fixture.start(fixture.fetchArguments([list, "--gallery", "page.html"], report: "-"))

    await command.output.waitForLines(1)
    await fixture.server.waitForRequests(2)
    command.send(SIGINT)
    let result = await command.result()
    gate.open()

    #expect(result.ending == .exit(130))

    let page = try String(contentsOfFile: fixture.directory.path("page.html"), encoding: .utf8)
    #expect(page.contains(#""f":"out/0.png""#) && page.contains(#""c":"cancelled""#))
    #expect(try fixture.directory.files().filter { $0.hasPrefix(".") } == [])
  }

  @Test func `The page during the run shows rows that have finished and rows that wait`() async throws {
    let gate = Gate()
    let fixture = try CommandFixture { $0.target == "/0.png" ? .icon() : .icon().after(gate) }
    let list = try fixture.list(["/0.png", "/1.png"])
    let command = try fixture.start(fixture.fetchArguments([list, "--gallery", "page.html"]))
    await fixture.server.waitForRequests(2)

    #expect(try fixture.text("page.html").contains("This page is not complete."))

    await eventually { (try? fixture.text("page.html").contains(#""f":"out/0.png""#)) == true }
    let page = try fixture.text("page.html")

    #expect(page.contains(#"{"i":1,"s":"waiting","#))
    #expect(page.contains("Running: 1 of 2 rows finished."))

    gate.open()
    #expect(await command.result().ending == .exit(0))
    let final = try fixture.text("page.html")

    #expect(final.contains(#""f":"out/1.png""#) && !final.contains("id=run") && !final.contains(#""s":"waiting""#))
    #expect(try fixture.directory.files().filter { $0.hasPrefix(".") } == [])
  }

  @Test func `The page of a killed run says that it is not complete, and a retry replaces it`() async throws {
    let (gate, isHealthy) = (Gate(), Gate())
    let fixture = try CommandFixture { _ in isHealthy.isOpen ? .icon().after(gate) : .http(503) }
    #expect(try await fixture.fetch(try fixture.list(["/a.png"])).ending == .exit(75))
    isHealthy.open()
    let arguments = [
      "retry", "report.jsonl", "--cache-dir", fixture.cache, "--gallery", "page.html", "--progress", "none",
      "--timeout", "2400",
    ]
    let command = try fixture.start(arguments)
    await fixture.server.waitForRequests(2)
    command.send(SIGKILL)

    #expect(await command.result().ending == .signal(SIGKILL))
    #expect(try fixture.text("page.html").contains("This page is not complete."))

    gate.open()
    #expect(try await fixture.start(arguments).result().ending == .exit(0))

    let page = try fixture.text("page.html")
    #expect(page.contains(#""f":"out/a.png""#) && !page.contains("not complete"))
  }

  @Test(arguments: ["9223372036854775807", "1000000000000"])
  func `A gallery of a retry contains rows with any index`(index: String) async throws {
    let isHealthy = Gate()
    let fixture = try CommandFixture { _ in isHealthy.isOpen ? .icon() : .http(503) }

    #expect(try await fixture.fetch(try fixture.list(["/a.png", "/b.png"])).ending == .exit(75))

    let report = try String(contentsOfFile: fixture.directory.path("report.jsonl"), encoding: .utf8)
    _ = try fixture.directory.write(report.replacing("\"index\":0,", with: "\"index\":\(index),"), as: "far.jsonl")
    isHealthy.open()
    let result = try await fixture.run(
      "retry", "far.jsonl", "--cache-dir", fixture.cache, "--gallery", "page.html", "--progress", "none")

    #expect(result.ending == .exit(0))

    let page = try String(contentsOfFile: fixture.directory.path("page.html"), encoding: .utf8)
    #expect(page.matches(of: #/{"i":(\d+),/#).map { String($0.1) } == ["1", index])
  }

  @Test func `A gallery in a missing directory exits with 73 before anything is fetched`() async throws {
    let fixture = try CommandFixture()
    let result = try await fixture.fetch(try fixture.list(["/a.png"]), "--gallery", "none/page.html")

    #expect(result.ending == .exit(73))
    #expect(result.errors.contains("none/"))
    #expect(fixture.server.requests.isEmpty)
  }

  @Test func `A full disk under the gallery and the metrics ends neither the run nor other files`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list((0..<300).map { "/\($0).png" })
    let small = "mkdir s; exec unshare -m sh -c 'mount -t tmpfs -o size=8k none s && exec \"$0\" \"$@\"' \"$0\" \"$@\""
    let arguments = fixture.fetchArguments([list, "--gallery", "s/page.html", "--metrics", "s/run.prom"])
    let result = try await fixture.start(arguments, setup: small).result()
    #expect(result.ending == .exit(74), "\(result.errors)")
    #expect(try fixture.outputs().count == 300 && fixture.report().allSatisfy { $0.status == "ok" })
    #expect(result.errors.contains("300 items: 300 ok, 0 failed"))
    #expect(result.errorLines.count { $0.contains("No space left on device. The run goes on without it.") } == 1)
  }
}
