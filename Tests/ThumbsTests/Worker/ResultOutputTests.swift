import Foundation
import TestSupport
import Testing

@testable import thumbs

@Suite struct OutputBufferTests {
  @Test func `Records are added while there is room, and one may exceed it`() {
    var buffer = OutputBuffer(limit: 4)

    #expect(buffer.add([1, 2]) == .added(wakesWriter: true))
    #expect(buffer.add([3, 4, 5, 6]) == .added(wakesWriter: false))
    #expect(buffer.add([7]) == .full)
    #expect(buffer.take() == [1, 2, 3, 4, 5, 6] && buffer.take() == [])
    #expect(buffer.add([7]) == .added(wakesWriter: true))
  }

  @Test func `A closed buffer drops everything`() {
    var buffer = OutputBuffer(limit: 4)
    _ = buffer.add([1])

    buffer.close()

    #expect(buffer.add([2]) == .closed && buffer.take() == [])
  }
}

@Suite(.timeLimit(.minutes(20))) struct ResultOutputTests {
  /// The two ends of a pipe, and the output that writes to it.
  private struct Fixture {
    let reading: Int32
    let output: ResultOutput
    let flow = Recorder<ResultOutput.Flow>()
    let failures = Recorder<OutputError>()
    let added = Recorder<Int>()

    init(limit: Int) throws {
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      reading = ends[0]
      signal(SIGPIPE, SIG_IGN)
      output = ResultOutput(ends[1], limit: limit) { [flow] in
        flow.record($0)
      } onFailure: { [failures] in
        failures.record($0)
      }
    }

    /// Adds `count` records of 64 KiB on another thread.
    func add(_ count: Int) {
      Thread { [output, added] in
        for number in 0..<count {
          output.add([UInt8](repeating: UInt8(number), count: 64 << 10))
          added.record(number)
        }
      }.start()
    }
  }

  @Test func `A record is written at once, without a later one`() throws {
    let fixture = try Fixture(limit: 100)
    var bytes: [UInt8] = [0, 0, 0]

    fixture.output.add([1, 2, 3])

    #expect(read(fixture.reading, &bytes, 3) == 3 && bytes == [1, 2, 3])
    fixture.output.finish()
    #expect(fixture.output.failure == nil && fixture.flow.values.isEmpty)
    close(fixture.reading)
  }

  @Test func `A reader that stops blocks the threads that add records, until it goes on`() async throws {
    let fixture = try Fixture(limit: 64 << 10)
    fixture.add(20)

    await eventually { fixture.flow.values.last == .blocked }
    // One record in the pipe, one being written, and one that waits.
    #expect(fixture.added.values.count <= 3)
    let stream = CommandStream(fixture.reading)
    _ = await fixture.added.values(count: 20)
    fixture.output.finish()

    await eventually { fixture.flow.values.last == .open }
    await eventually { stream.bytes.count == 20 * 64 << 10 }
    #expect(stream.bytes.chunks(of: 64 << 10).compactMap(\.first) == Array(0..<20))
  }

  @Test func `A reader that closes the pipe is a failure, once, and blocks nobody`() async throws {
    let fixture = try Fixture(limit: 64 << 10)
    fixture.add(20)
    await eventually { fixture.flow.values.last == .blocked }

    close(fixture.reading)

    #expect(await fixture.failures.values(count: 1).map(\.code) == [EPIPE])
    _ = await fixture.added.values(count: 20)
    fixture.output.finish()
    #expect(fixture.failures.values.count == 1 && fixture.output.failure?.isBrokenPipe == true)
  }

  @Test func `Abandoned output blocks nobody, although its reader has stopped`() async throws {
    let fixture = try Fixture(limit: 64 << 10)
    fixture.add(20)
    await eventually { fixture.flow.values.last == .blocked }

    fixture.output.abandon()

    _ = await fixture.added.values(count: 20)
    fixture.output.finish()
    #expect(fixture.failures.values.isEmpty)
    close(fixture.reading)
  }
}

extension [UInt8] {
  fileprivate func chunks(of count: Int) -> [ArraySlice<UInt8>] {
    stride(from: 0, to: self.count, by: count).map { self[$0..<Swift.min($0 + count, self.count)] }
  }
}
