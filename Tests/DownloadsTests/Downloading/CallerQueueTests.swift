import Dispatch
import DownloadSupport
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

/// The queues on which the closures of a caller are called.
@Suite(.timeLimit(.minutes(10))) struct CallerQueueTests {
  private static let key = DispatchSpecificKey<String>()

  private let transport = ScriptedTransport { _, _ in .response([1, 2, 3]) }
  private let queue: DispatchQueue
  /// The names of the closures that were called, with the queue of each.
  private let calls = Recorder<String>()

  init() {
    queue = DispatchQueue(label: "caller")
    queue.setSpecific(key: Self.key, value: "caller")
  }

  private func record(_ name: String) {
    calls.record("\(name) on \(DispatchQueue.getSpecific(key: Self.key) ?? "another")")
  }

  @Test func `All closures of a download are called on the queue that the caller names`() async throws {
    let downloader = Downloader(.prompt, transport: transport)

    downloader.download(try DownloadRequest("a"), on: queue) { _ in
      record("progress")
    } completion: { _ in
      record("end")
    }

    await downloader.waitUntilFinished()
    #expect(Set(calls.values) == ["progress on caller", "end on caller"] && calls.values.last == "end on caller")
  }

  @Test func `The closure that makes a request is called on the queue of its caller too`() async throws {
    let downloader = Downloader(.prompt, transport: transport)
    let first = downloader.download(try DownloadRequest("a")) { _ in record("first") }

    downloader.download(after: [first], on: queue) { _ in
      record("request")
      return try DownloadRequest("b")
    } completion: { _ in
      record("end")
    }

    #expect(await calls.values(count: 3) == ["first on another", "request on caller", "end on caller"])
  }

  @Test func `The closures of a download into a file are called on the queue that the caller names`() async throws {
    let directory = try TemporaryDirectory()
    let downloader = Downloader(.prompt, transport: transport)
    let file = URL(filePath: directory.path("a"))

    downloader.download(try DownloadRequest("a"), to: file, on: queue) { _ in record("end") }

    #expect(await calls.values(count: 1) == ["end on caller"])
  }

  @Test func `On a concurrent queue, the closures are still called one at a time and in order`() async throws {
    let transport = ScriptedTransport { _, _ in
      [.head(200, [.contentLength: "200"])] + (0..<200).map { .bytes([UInt8($0)]) } + [.end]
    }
    let downloader = Downloader(.prompt, transport: transport)
    let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
    let request = try DownloadRequest("a")

    for _ in 0..<20 {
      let (load, received) = (LoadMeter(), Recorder<Int>())
      await withCheckedContinuation { done in
        downloader.download(request, on: concurrent) { progress in
          load.enter()
          received.record(progress.received)
          load.leave()
        } completion: { _ in
          load.enter()
          received.record(.max)
          load.leave()
          done.resume()
        }
      }
      #expect(load.peak == 1)
      #expect(received.values == received.values.sorted() && received.values.last == .max)
    }
  }
}
