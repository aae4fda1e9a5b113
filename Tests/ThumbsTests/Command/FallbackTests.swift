import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch: the fallback image", .timeLimit(.minutes(20))) struct FallbackTests {
  private let fixture: CommandFixture
  private let isHealthy = Gate()

  init() throws {
    fixture = try CommandFixture { [isHealthy] request in
      request.target == "/ok.png" || isHealthy.isOpen ? .icon() : .http(request.target == "/gone.png" ? 404 : 503)
    }
    _ = try fixture.directory.write(SampleImage.jpeg(width: 300, height: 200), as: "fallback.jpg")
  }

  private func row(_ index: Int) throws -> [String: Any] {
    let lines = try fixture.text("report.jsonl").split(separator: "\n").map { try object($0) }
    return try #require(lines.first { $0["index"] as? Int == index })
  }

  private func object(_ line: Substring) throws -> [String: Any] {
    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
  }

  @Test func `Failed rows get the image in their sizes, and are still reported as failed`() async throws {
    let list = try fixture.list(["/ok.png", "/gone.png", "/busy.png"])

    let result = try await fixture.fetch(list, "--fallback", "fallback.jpg", "--size", "30", "--size", "60")

    #expect(result.ending == .exit(75))
    #expect(try fixture.report().map(\.status) == ["ok", "failed", "failed"])
    #expect(try fixture.report().map(\.code) == [nil, "http_404", "http_503"])
    let files = ["busy-30x30.jpg", "busy-60x60.jpg", "gone-30x30.jpg", "gone-60x60.jpg"]
    #expect(try fixture.outputs() == (files + ["ok-30x30.png", "ok-60x60.png"]).sorted())
    #expect(ImageFile(try fixture.output("gone-60x60.jpg")) == ImageFile(format: "jpeg", width: 60, height: 40))
    #expect(try fixture.report()[1].paths == ["gone-30x30.jpg", "gone-60x60.jpg"])
    #expect(try row(1)["fallback"] as? Bool == true && row(1)["again"] != nil)
    #expect(try row(0)["fallback"] == nil)
  }

  @Test(arguments: [false, true])
  func `A later success replaces the image, even under another extension`(isRetry: Bool) async throws {
    let list = try fixture.list(["/busy.png", "/other.png"])
    let arguments = fixture.fetchArguments([list, "--fallback", "fallback.jpg"])
    #expect(try await fixture.start(arguments).result().ending == .exit(75))
    #expect(try fixture.outputs() == ["busy.jpg", "other.jpg"])

    isHealthy.open()
    let retry = ["retry", "report.jsonl", "--cache-dir", fixture.cache, "--fallback", "fallback.jpg"]
    let second = try await fixture.start(isRetry ? retry : arguments).result()

    #expect(second.ending == .exit(0))
    #expect(try fixture.outputs() == ["busy.png", "other.png"])
    #expect(ImageFile(try fixture.output("busy.png")) == ImageFile(format: "png", width: 40, height: 30))
  }

  @Test func `A retry without the option says which rows have the image`() async throws {
    let list = try fixture.list(["/busy.png", "/other.png", "/ok.png"])
    #expect(try await fixture.fetch(list, "--fallback", "fallback.jpg").ending == .exit(75))
    isHealthy.open()

    let retry = try await fixture.run("retry", "-n", "report.jsonl")
    let complete = try await fixture.run("retry", "-n", "report.jsonl", "--fallback", "fallback.jpg")

    #expect(
      retry.errors.contains(
        "The files go to out. 2 of the rows to retry have the image of --fallback. Give --fallback again; "))
    #expect(!complete.errors.contains("--fallback"))
  }

  @Test(
    arguments: [(nil, nil, true), ("out/busy.jpg", nil, false), (nil, "elsewhere", false)] as [(String?, String?, Bool)]
  )
  func `A row that fails again in a retry without the option has the image as long as its file is there`(
    removed: String?, directory: String?, isThere: Bool
  ) async throws {
    #expect(try await fixture.fetch(fixture.list(["/busy.png"]), "--fallback", "fallback.jpg").ending == .exit(75))
    let first = try row(0)
    if let removed { try FileManager.default.removeItem(atPath: fixture.directory.path(removed)) }
    let options = directory.map { ["-o", $0] } ?? []

    for _ in 0..<2 {
      let retry = ["retry", "report.jsonl", "--cache-dir", fixture.cache, "--retries", "0"] + options
      #expect(try await fixture.start(retry).result().ending == .exit(75))
      #expect(try (row(0)["fallback"] as? Bool ?? false) == isThere)
      #expect(try fixture.report()[0].paths == (isThere ? ["busy.jpg"] : []))
      if isThere { #expect(try NSDictionary(dictionary: row(0)) == NSDictionary(dictionary: first)) }
    }
  }

  @Test func `The image is never overwritten by a thumbnail, and a file of another program is kept`() async throws {
    _ = try fixture.directory.write("mine", as: "gone.jpg")
    let list = try fixture.list(["/fallback.jpg", "/gone.png"])

    let result = try await fixture.start(
      ["fetch", list, "-o", ".", "--no-cache", "--retries", "0", "--report", "report.jsonl"]
        + ["--fallback", "fallback.jpg"]
    ).result()

    #expect(result.ending == .exit(75))
    #expect(try Array(fixture.data("fallback.jpg")) == SampleImage.jpeg(width: 300, height: 200))
    #expect(try fixture.text("gone.jpg") == "mine")
    #expect(try row(0)["fallback"] == nil && row(1)["fallback"] == nil)
  }

  @Test(arguments: [("missing.png", "there is no such file"), ("list.txt", "list.txt: ")])
  func `A file that is not an image is a usage error before the run`(file: String, message: String) async throws {
    let list = try fixture.list(["/ok.png"])

    let result = try await fixture.fetch(list, "--fallback", file)

    #expect(result.ending == .exit(64))
    #expect(result.errors.contains(message) && result.errors.contains("--fallback"))
    #expect(fixture.server.requests.isEmpty && !FileManager.default.fileExists(atPath: fixture.directory.path("out")))
  }
}
