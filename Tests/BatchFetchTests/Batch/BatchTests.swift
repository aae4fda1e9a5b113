import Dispatch
import Foundation
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

@Suite(.timeLimit(.minutes(10))) struct BatchTests {
  private enum Event: Sendable, Equatable {
    case item(finished: Int)
    case completed(BatchSummary)
  }

  /// Runs a batch by its closures; the events end with the completion.
  private func events<Elements>(of batch: Batch<Elements>, cancelAfter: Int? = nil) async -> [Event] {
    let events = Recorder<Event>()
    let done = Recorder<Void>()
    let (run, isStarted) = (Recorder<BatchRun>(), Gate())
    run.record(
      batch.start { item in
        events.record(.item(finished: item.finished))
        guard item.finished == cancelAfter else { return }
        // The first item may come before there is anything to cancel.
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

  private func expected(_ count: Int, failed: Int = 0, cancelled: Int = 0, isCancelled: Bool = false) -> [Event] {
    (0..<count).map { .item(finished: $0 + 1) }
      + [.completed(BatchSummary(finished: count, failed: failed, cancelled: cancelled, isCancelled: isCancelled))]
  }

  @Test func `An empty batch completes once`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    #expect(await events(of: Batch([ThumbnailRequest](), over: fixture.pipeline())) == expected(0))
  }

  @Test func `A thousand rows of ten pictures are ten requests and a thousand outcomes`() async throws {
    let fixture = try PipelineFixture { _ in .image(fields: [:]) }
    let requests = (0..<1000).map { fixture.request("/\($0 % 10)") }
    var finished: [Int] = []
    var indices: Set<Int> = []
    for await item in Batch(requests, over: fixture.pipeline()) {
      #expect(item.outcome.failure == nil && item.total == 1000)
      finished.append(item.finished)
      indices.insert(item.index)
    }
    #expect(finished == Array(1...1000))
    #expect(indices.count == 1000)
    #expect(fixture.server.requests.count == 10)
  }

  @Test func `Some failing, the completion still follows the last item`() async throws {
    let fixture = try PipelineFixture { $0.target.contains("odd") ? .http(404) : .image() }
    let requests = (0..<40).map { fixture.request($0 % 2 == 0 ? "/\($0)" : "/odd\($0)") }
    #expect(await events(of: Batch(requests, over: fixture.pipeline())) == expected(40, failed: 20))
  }

  @Test func `All cached, even ten thousand, complete without a request`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let pipeline = fixture.pipeline()
    _ = try await pipeline.thumbnails(for: fixture.request("/a"))
    let requests = Array(repeating: fixture.request("/a"), count: 10_000)
    #expect(await events(of: Batch(requests, over: pipeline)) == expected(10_000))
    #expect(fixture.server.requests.count == 1)
  }

  @Test func `Cancelled, it tells of everything begun and completes once`() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { $0.target == "/0" ? .image() : .image().after(gate) }
    let requests = (0..<500).map { fixture.request("/\($0)") }
    // Room for the whole window: which of its rows are first in the queue of their host is open.
    let pipeline = fixture.pipeline(change: { $0.downloads.perHost = 8 })
    let events = await events(of: Batch(requests, over: pipeline, window: 8), cancelAfter: 1)
    gate.open()
    guard case .completed(let summary) = events.last else {
      Issue.record("The completion must be the last event.")
      return
    }
    #expect(summary.isCancelled)
    #expect(summary.succeeded == 1 && summary.failed == 0)
    #expect(events == expected(summary.finished, cancelled: summary.finished - 1, isCancelled: true))
    #expect((8...16).contains(summary.finished))
  }

  @Test func `Cancelling a batch leaves what another one wants`() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in .image().after(gate) }
    let pipeline = fixture.pipeline()
    let other = Recorder<Result<ThumbnailSet, FetchFailure>>()
    pipeline.load(fixture.request("/a")) { other.record($0) }
    let (items, done) = (Recorder<Result<ThumbnailSet, FetchFailure>>(), Recorder<BatchSummary>())
    let run = Batch([fixture.request("/a")], over: pipeline).start {
      items.record($0.outcome)
    } completion: {
      done.record($0)
    }
    await fixture.server.waitForRequests(1)
    run.cancel()
    _ = await done.values(count: 1)
    #expect(items.values.allSatisfy { $0.failure == .cancelled })
    gate.open()
    #expect(await other.values(count: 1).first?.failure == nil)
  }

  @Test func `Never more than a window is on its way, and elements are pulled as they are needed`() async throws {
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

  @Test func `The group is empty after the last item`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let counter = Counter()
    let requests = (0..<50).map { fixture.request("/\($0)") }
    let run = Batch(requests, over: fixture.pipeline()).start { _ in counter.next() }
    await withCheckedContinuation { continuation in
      run.group.notify(queue: .global()) { continuation.resume() }
    }
    #expect(counter.value == 50)
  }

  @Test func `Leaving the loop cancels the batch`() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { $0.target == "/0" ? .image() : .image().after(gate) }
    let pipeline = fixture.pipeline()
    for await item in Batch((0..<100).map { fixture.request("/\($0)") }, over: pipeline, window: 4) {
      #expect(item.finished == 1)
      break
    }
    await eventually { pipeline.runningCount == 0 }
    gate.open()
    // Whoever is asked now is asked last: nothing of the batch comes behind it.
    _ = try await pipeline.thumbnails(for: fixture.request("/last"))
    #expect(fixture.server.requests.count <= 6)
  }

  @Test func `An element that is no request fails alone`() async throws {
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

/// A sequence that counts how often it was asked.
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
