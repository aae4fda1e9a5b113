import DownloadSupport
import Foundation
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

/// The elements of a batch, its window and its cancel. See also `BatchSystemTests` and `GroupCompletionTests`.
@Suite(.timeLimit(.minutes(10))) struct BatchTests {
  private enum Event: Sendable, Equatable {
    case item(finished: Int)
    case completed(BatchSummary)
  }

  /// Runs a batch by its closures. The events end with the completion.
  private func events<Elements>(of batch: Batch<Elements>, cancelAfter: Int? = nil) async -> [Event] {
    let events = Recorder<Event>()
    let done = Recorder<Void>()
    let (run, isStarted) = (Recorder<BatchRun>(), Gate())
    run.record(
      batch.start { item in
        events.record(.item(finished: item.finished))
        guard item.finished == cancelAfter else { return }
        // The first item may end before the test knows the run that it cancels.
        isStarted.wait()
        run.values.first?.cancel()
      } completion: {
        events.record(.completed($0))
        done.record(())
      })
    isStarted.open()
    _ = await done.values(count: 1)
    return events.values
  }

  /// - Parameter downloads: The number of elements that were downloaded.
  private func expected(
    _ count: Int, cancelled: Int = 0, isCancelled: Bool = false, downloads: Int = 0
  ) -> [Event] {
    let bytes = downloads * SampleImage.png(width: 40, height: 30).count
    let summary = BatchSummary(
      finished: count, failed: 0, cancelled: cancelled, isCancelled: isCancelled, receivedBytes: bytes)
    return (0..<count).map { .item(finished: $0 + 1) } + [.completed(summary)]
  }

  @Test func `A batch of ten thousand cached items completes without a request`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let pipeline = fixture.pipeline()
    _ = try await pipeline.thumbnails(for: fixture.request("/a"))

    let requests = Array(repeating: fixture.request("/a"), count: 10_000)

    #expect(await events(of: Batch(requests, over: pipeline)) == expected(10_000))
    #expect(fixture.server.requests.count == 1)
  }

  @Test func `A canceled batch reports every item that it began, then completes once`() async throws {
    // The first element ends when the whole window has begun.
    let (begun, isBegun, gate) = (Counter(), Gate(), Gate())
    let fixture = try PipelineFixture { request in
      if begun.next() == 8 { isBegun.open() }
      return .image().after(request.target == "/0" ? isBegun : gate)
    }
    let requests = (0..<500).map { fixture.request("/\($0)") }
    // Connections for the whole window, so that all of its requests are sent.
    let pipeline = fixture.pipeline(change: { $0.downloads.perHost = 8 })

    let events = await events(of: Batch(requests, over: pipeline, window: 8), cancelAfter: 1)
    gate.open()

    guard case .completed(let summary) = events.last else {
      Issue.record("The completion must be the last event.")
      return
    }
    #expect(summary.isCancelled)
    #expect(summary.succeeded == 1 && summary.failed == 0)
    #expect(events == expected(summary.finished, cancelled: summary.finished - 1, isCancelled: true, downloads: 1))
    #expect((8...16).contains(summary.finished))
  }

  @Test func `A batch begins no more elements than its window holds, and pulls them as it needs them`() async throws {
    let (gate, pulled) = (Gate(), Counter())
    let fixture = try PipelineFixture { _ in .image().after(gate) }
    let batch = Batch(CountedSequence(count: 200, pulled: pulled), over: fixture.pipeline(), window: 5) {
      fixture.request("/\($0)")
    }
    let done = Recorder<BatchSummary>()

    batch.start { _ in
    } completion: {
      done.record($0)
    }
    await fixture.server.waitForRequests(5)
    #expect(pulled.value == 5)

    gate.open()
    #expect(await done.values(count: 1).first?.finished == 200)
  }

  @Test func `Leaving the loop over a batch cancels it`() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { $0.target == "/0" ? .image() : .image().after(gate) }
    let pipeline = fixture.pipeline()

    for await item in Batch((0..<100).map { fixture.request("/\($0)") }, over: pipeline, window: 4) {
      #expect(item.finished == 1)
      break
    }
    await eventually { pipeline.runningCount == 0 }
    gate.open()

    // A request made now is last in the queue: nothing of the batch can follow it.
    _ = try await pipeline.thumbnails(for: fixture.request("/last"))
    #expect(fixture.server.requests.count <= 6)
  }

  @Test func `An element whose request cannot be made fails alone`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let batch = Batch(0..<10, over: fixture.pipeline()) { index throws(FetchFailure) in
      if index == 3 { throw FetchFailure(.badRow, "Not a row.") }
      return fixture.request("/\(index)")
    }

    var failures: [Int: FailureCode] = [:]
    for await item in batch { failures[item.element] = item.outcome.failure?.code }

    #expect(failures == [3: .badRow])
  }
}

/// A sequence that counts its elements as they are pulled.
private struct CountedSequence: Sequence, Sendable {
  let count: Int
  let pulled: Counter

  func makeIterator() -> AnyIterator<Int> {
    var iterator = (0..<count).makeIterator()
    return AnyIterator {
      pulled.next()
      return iterator.next()
    }
  }
}
