import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BatchFetch

/// `self.token = pipeline.load(…) { self… }` does not leak: after the end, the token keeps no closure, so that the
/// object that holds the token is released with the last reference from outside. The same holds for `Batch.start`.
@Suite(.timeLimit(.minutes(10))) struct LeakTests {
  struct Load: Sendable, CustomTestStringConvertible {
    let paths: [String]
    var isDelayed = false
    var isCanceled = false

    var testDescription: String {
      paths.joined(separator: ", ") + (isDelayed ? ", after a milestone" : "") + (isCanceled ? ", canceled" : "")
    }
  }

  /// URLs with their mirrors, each with and without a milestone and a cancel. A load that is held ends only if it is
  /// canceled.
  static let loads: [Load] = [["a"], ["held"], ["gone"], ["gone", "b"], ["gone", "gone"], ["gone", "held"]].flatMap {
    paths in
    [(false, false), (false, true), (true, false), (true, true)].map { isDelayed, isCanceled in
      Load(paths: paths, isDelayed: isDelayed, isCanceled: isCanceled)
    }
  }.filter { $0.isCanceled || !$0.paths.contains("held") }

  private let pipeline: ThumbnailPipeline = {
    let image = SampleImage.png(width: 8, height: 8)
    let transport = ScriptedTransport { request, _ in
      switch request.source.lastPathComponent {
      case "held": [.hold]
      case "gone": .response([], status: 404)
      default: .response(image, fields: [.cacheControl: "max-age=3600"])
      }
    }
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: nil)
    configuration.downloads = .prompt
    return ThumbnailPipeline(configuration, transport: transport)
  }()

  private func request(_ path: String) -> ThumbnailRequest { ThumbnailRequest(url: "http://a.test/\(path)", size: 4) }

  @Test(arguments: loads)
  func `The owner of a token is released after the end of its load`(load: Load) async throws {
    let milestone = Milestone()
    var request = request(load.paths[0])
    request.mirrors = load.paths.dropFirst().map { "http://a.test/\($0)" }
    request.after = load.isDelayed ? [milestone] : []

    let isReleased = await TokenOwner<ThumbnailToken>.isReleased { [request] owner in
      pipeline.load(request) { _ in owner.end() }
    } then: { token in
      if load.isCanceled { token.cancel() } else { milestone.reach() }
    }

    #expect(isReleased)
    // A milestone that is reached later, or never, keeps nothing either.
    withExtendedLifetime(milestone) {}
    await eventually { pipeline.runningCount == 0 }
  }

  @Test func `The owner of a token is released after a load that memory served`() async throws {
    _ = try await pipeline.thumbnails(for: request("a"))
    let isReleased = await TokenOwner<ThumbnailToken>.isReleased { owner in
      pipeline.load(request("a")) { _ in owner.end() }
    }
    #expect(isReleased)
  }

  @Test func `The owner of a token is released after its load was refused`() async throws {
    let isReleased = await TokenOwner<ThumbnailToken>.isReleased { owner in
      pipeline.load(ThumbnailRequest(url: "not a URL", size: 4)) { _ in owner.end() }
    }
    #expect(isReleased)
  }

  @Test func `The owner of a token is released after it left a load that goes on for others`() async throws {
    let other = pipeline.load(request("held")) { _ in }
    let isReleased = await TokenOwner<ThumbnailToken>.isReleased { owner in
      pipeline.load(request("held")) { _ in owner.end() }
    } then: {
      $0.cancel()
    }
    #expect(isReleased)
    #expect(pipeline.runningCount == 1)
    other.cancel()
  }

  @Test func `The owner of a token is released after it canceled a load that waited for another one`() async throws {
    let held = pipeline.load(request("held")) { _ in }
    var waiting = request("a")
    waiting.after = [held.finished]
    let isReleased = await TokenOwner<ThumbnailToken>.isReleased { [waiting] owner in
      pipeline.load(waiting) { _ in owner.end() }
    } then: {
      $0.setPriority(.high)
      $0.cancel()
    }
    #expect(isReleased)
    // The load that it waited for continues.
    #expect(pipeline.runningCount == 1)
    held.cancel()
  }

  @Test(arguments: [false, true])
  func `The owner of a running batch is released after its end`(isCanceled: Bool) async throws {
    let requests = ["a", "b", "gone"].map { request($0) } + (isCanceled ? [request("held")] : [])
    let isReleased = await TokenOwner<BatchRun>.isReleased { owner in
      Batch(requests, over: pipeline).start { _ in
        owner.touch()
      } completion: { _ in
        owner.end()
      }
    } then: {
      if isCanceled { $0.cancel() }
    }
    #expect(isReleased)
  }
}
