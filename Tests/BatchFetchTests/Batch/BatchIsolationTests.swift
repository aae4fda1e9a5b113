import BatchFetch
import DownloadSupport
import TestSupport
import Testing

/// The asynchronous functions of the libraries as code of actors calls them: with closures that use the actor's own
/// state. That these types compile is the test.
@Suite("A batch in the code of an actor")
struct BatchIsolationTests {
  private final class Log { var lines: [String] = [] }

  private actor Store {
    private let log = Log()
    private(set) var succeeded = 0

    func fetch(_ batch: Batch<[ThumbnailRequest]>) async -> Int {
      let summary = await batch.forEach { item in
        await Task.yield()
        log.lines.append("\(item.index)")
        if case .success = item.outcome { succeeded += 1 }
      }
      return summary.finished
    }

    func iterate(_ batch: Batch<[ThumbnailRequest]>) async {
      for await item in batch { log.lines.append("\(item.index)") }
    }

    func downloads(of downloader: Downloader) async {
      for await event in downloader.events { log.lines.append("\(event)") }
    }
  }

  @MainActor private final class Model {
    private let log = Log()
    private(set) var finished: [Int] = []

    func fetch(_ batch: Batch<[ThumbnailRequest]>) async -> Int {
      await batch.forEach { item in
        MainActor.assertIsolated()
        log.lines.append("\(item.index)")
        finished.append(item.finished)
      }.finished
    }
  }

  private func batch() -> Batch<[ThumbnailRequest]> {
    let image = SampleImage.png(width: 8, height: 8)
    let requests = ["a", "b", "c"].map { ThumbnailRequest(url: "https://images.example/\($0).png", size: 4) }
    let pipeline = ThumbnailPipeline(
      .init(cacheDirectory: nil), transport: ScriptedTransport { _, _ in .response(image) })
    return Batch(requests, over: pipeline)
  }

  @Test func `An actor changes its own state with each outcome`() async {
    let store = Store()

    #expect(await store.fetch(batch()) == 3)
    #expect(await store.succeeded == 3)
  }

  @Test func `A class of the main actor changes its own state with each outcome`() async {
    let model = await Model()

    #expect(await model.fetch(batch()) == 3)
    #expect(await model.finished == [1, 2, 3])
  }

  @Test func `An error that the closure throws ends the batch`() async throws {
    struct Full: Error {}

    await #expect(throws: Full.self) { try await batch().forEach { _ in throw Full() } }
  }
}
