import Foundation
import TestSupport
import Testing

@Suite("thumbs worker: flow", .timeLimit(.minutes(20))) struct WorkerFlowTests {
  /// Before it is blocked, the worker may make results of 256 KiB, for the pipe, and for each thread that waits, and
  /// finish the downloads that have begun. `make test-worker` stops the reader for 10 seconds.
  @Test func `A reader that stops stops the requests, and gets every result when it goes on`() async throws {
    let image = SampleImage.png(width: 320, height: 320)
    let fixture = try CommandFixture { _ in .http(200, [:], image) }
    let (rows, perResult) = (600, 8_000)
    let arguments = fixture.workerArguments([
      "--size", "300", "--format", "png", "--no-cache", "--concurrency", "8", "--per-host", "8",
    ])
    let pipe = try #require(StoppedReader())
    let command = try fixture.start(arguments, setup: "exec > \(pipe.path)", input: .pipe)
    command.write((0..<rows).map { fixture.row($0, "/\($0).png") + "\n" }.joined())
    command.closeInput()

    await eventually { pipe.isFull }
    let requests = fixture.server.requests.count
    let memory = try #require(command.peakMemory)
    let results = try WorkerResults(frames: await pipe.readAll())
    let ending = await command.result().ending

    #expect(ending == .exit(0) && results.end?.finished == rows)
    #expect(Set(results.records.compactMap(\.id)).count == rows)
    #expect(results.records.allSatisfy { $0.status == "ok" && $0.bodies.map(\.count).reduce(0, +) > perResult })
    #expect(requests < (256 << 10) / perResult + 60, "\(requests) requests before the reader went on")
    #expect(memory < 200 << 10, "\(memory) KiB")
  }

  /// The number of rows and kills is small here; `make test-worker` has more.
  @Test func `Thousands of rows over few URLs get one result each, with one request per URL`() async throws {
    let fixture = try CommandFixture { .icon(Int($0.target.filter(\.isNumber)) ?? 0) }
    let rows = 4000

    let (ending, results) = try await fixture.work((0..<rows).map { fixture.row($0, "/\($0 % 50).png") })

    #expect(ending == .exit(0) && results.end.map { [$0.received, $0.finished] } == [rows, rows])
    #expect(Set(results.records.compactMap(\.id)) == Set((0..<rows).map(String.init)))
    #expect(results.records.allSatisfy { $0.status == "ok" && $0.bodies.count == 1 })
    #expect(fixture.requestCounts.count == 50 && fixture.requestCounts.values.allSatisfy { $0 == 1 })
  }

  @Test(arguments: 0..<6) func `A kill at any moment leaves whole results and at most a part of one`(
    round: Int
  ) async throws {
    let fixture = try CommandFixture { .icon(Int($0.target.filter(\.isNumber)) ?? 0) }
    let expected = try await fixture.work((0..<20).map { fixture.row($0, "/\($0).png") }).1
    let bodies = Dictionary(
      uniqueKeysWithValues: expected.records.map { ($0.header["url"] as? String ?? "", $0.bodies) })
    let command = try fixture.start(fixture.workerArguments(), input: .pipe)
    command.write((0..<5000).map { fixture.row($0, "/\($0 % 20).png") + "\n" }.joined())

    await command.output.waitForLines(1 + 20 * round * round)
    command.send(SIGKILL)
    let result = await command.result()

    #expect(result.ending == .signal(SIGKILL))
    let results = try WorkerResults(frames: command.output.bytes)
    #expect(results.end == nil)
    #expect(Set(results.records.compactMap(\.id)).count == results.records.count)
    for record in results.records {
      #expect(record.status == "ok" && record.bodies == bodies[record.header["url"] as? String ?? ""])
    }
  }
}
