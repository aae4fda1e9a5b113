import DownloadSupport
import Foundation
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads

/// Closures of the main actor, which change a view model without a detour.
@MainActor @Suite(.timeLimit(.minutes(10))) struct MainActorTests {
  /// A view model. The compiler would reject its closures if they were not of the main actor.
  @MainActor private final class Model {
    var icon: Thumbnail?
    var fraction: Double?
    var body: [UInt8]?
    var finished = 0
    var steps: [Int] = []
    let ends = Recorder<Void>()

    func load(_ request: ThumbnailRequest, from pipeline: ThumbnailPipeline) -> ThumbnailToken {
      let token = pipeline.load(request, isolation: MainActor.shared) { outcome in
        self.icon = try? outcome.get().thumbnails[0]
      }
      return token
    }

    func download(_ request: DownloadRequest, from downloader: Downloader) -> DownloadToken {
      let token = downloader.download(request, isolation: MainActor.shared) { progress in
        self.fraction = progress.fraction
      } completion: { result in
        self.body = try? result.get().body
      }
      return token
    }

    func start(_ batch: Batch<[ThumbnailRequest]>) -> BatchRun {
      batch.start(isolation: MainActor.shared) { item in
        self.finished = item.finished
      }
    }
  }

  private let model = Model()

  private func pipeline() -> ThumbnailPipeline {
    let image = SampleImage.png(width: 8, height: 8)
    return ThumbnailPipeline(.init(cacheDirectory: nil), transport: ScriptedTransport { _, _ in .response(image) })
  }

  @Test func `A completion of the main actor gets the thumbnails of its request`() async {
    let pipeline = pipeline()
    let token = model.load(ThumbnailRequest(url: "http://a.test/a", size: 8), from: pipeline)

    await withCheckedContinuation { done in token.finished.whenReached { done.resume() } }

    #expect(model.icon != nil)
  }

  @Test func `Progress and completion of the main actor follow a download`() async throws {
    let downloader = Downloader(.prompt, transport: ScriptedTransport { _, _ in .response([1, 2, 3]) })
    _ = model.download(try DownloadRequest("a"), from: downloader)

    await downloader.waitUntilFinished()

    #expect(model.fraction == 1 && model.body == [1, 2, 3])
  }

  @Test func `A download into a file and one with a request to be made run closures of the main actor`() async throws {
    let directory = try TemporaryDirectory()
    let downloader = Downloader(.prompt, transport: ScriptedTransport { _, _ in .response([1, 2, 3]) })
    let (model, file) = (model, URL(filePath: directory.path("a")))

    let first = downloader.download(try DownloadRequest("a"), to: file, isolation: MainActor.shared) { result in
      model.steps.append((try? result.get().length) ?? -1)
    }
    downloader.download(after: [first], isolation: MainActor.shared) { outcomes in
      model.steps.append(outcomes.count)
      return try DownloadRequest("b")
    } completion: { result in
      model.steps.append((try? result.get().length) ?? -1)
    }
    await downloader.waitUntilFinished()

    #expect(model.steps == [3, 1, 3])
  }

  @Test func `A batch counts on the main actor`() async {
    let (pipeline, ended) = (pipeline(), Recorder<Int>())
    let requests = ["a", "b", "c"].map { ThumbnailRequest(url: "http://a.test/\($0)", size: 8) }
    let model = model

    Batch(requests, over: pipeline).start(isolation: MainActor.shared) { item in
      model.steps.append(item.finished)
    } progress: { progress in
      model.finished = progress.finished
    } completion: { summary in
      ended.record(summary.succeeded)
    }
    #expect(await ended.values(count: 1) == [3])
    #expect(model.finished == 3)
    let run = model.start(Batch(requests, over: pipeline))
    await run.group.finished()

    #expect(model.steps == [1, 2, 3] && model.finished == 3)
  }
}
