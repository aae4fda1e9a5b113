import HTTPTypes
import TestSupport
import Testing

@testable import BatchFetch

/// A token may live as long as its owner, who may be captured by the completion: that must not keep the owner alive.
@Suite(.timeLimit(.minutes(5))) struct TokenReleaseTests {
  /// Something that closures capture, and that knows when nobody does any more.
  final class Owner: Sendable {
    func hear() {}
  }

  /// Calls `start` with an owner to capture; returns when nobody holds it, while the result of `start` still lives.
  private func released<Token>(_ start: (Owner) throws -> Token, then finish: (Token) -> Void = { _ in }) async throws {
    weak var watched: Owner?
    let token: Token
    do {
      let owner = Owner()
      watched = owner
      token = try start(owner)
    }
    finish(token)
    await eventually { watched == nil }
    withExtendedLifetime(token) {}
  }

  private let transport = ScriptedTransport { request, _ in
    request.source.description.hasSuffix("held") ? [.head(200, [:]), .bytes([1]), .hold] : .answer([1])
  }

  private func downloader() -> Downloader { Downloader(.prompt, transport: transport) }

  @Test func `Of a download that came`() async throws {
    let downloader = downloader()
    try await released { owner in
      downloader.download(try DownloadRequest("a"), progress: { _ in owner.hear() }, completion: { _ in owner.hear() })
    }
  }

  @Test func `Of one that was cancelled, before or after it began`() async throws {
    let downloader = downloader()
    for path in ["a", "held"] {
      try await released { owner in
        downloader.download(
          try DownloadRequest(path), progress: { _ in owner.hear() }, completion: { _ in owner.hear() })
      } then: {
        $0.cancel()
      }
    }
  }

  @Test func `Of one that waited for another`() async throws {
    let downloader = downloader()
    let first = downloader.start(try DownloadRequest("a"))
    try await released { owner in
      downloader.download(after: [first.token], progress: { _ in owner.hear() }) { _ throws(FetchFailure) in
        owner.hear()
        return DownloadRequest(source: try SourceURL("http://a.test/b"))
      } completion: { _ in
        owner.hear()
      }
    }
  }

  @Test func `Of one that was cancelled while it waited, though what it waited for goes on`() async throws {
    let downloader = downloader()
    let held = downloader.start(try DownloadRequest("held"))
    try await released { owner in
      downloader.download(after: [held.token], progress: { _ in owner.hear() }) { _ throws(FetchFailure) in
        owner.hear()
        return DownloadRequest(source: try SourceURL("http://a.test/b"))
      } completion: { _ in
        owner.hear()
      }
    } then: {
      $0.cancel()
    }
    #expect(downloader.runningCount == 1)
    held.token.cancel()
  }

  @Test func `Of one that was refused`() async throws {
    let downloader = downloader()
    try await released { owner in
      downloader.download(DownloadRequest(source: try SourceURL("file:///a"))) { _ in owner.hear() }
    }
  }

  private func pipeline() -> ThumbnailPipeline {
    let picture = SampleImage.png(width: 8, height: 8)
    let transport = ScriptedTransport { request, _ in
      let path = request.source.description
      return path.hasSuffix("held") ? [.hold] : .answer(picture, status: path.hasSuffix("gone") ? 404 : 200)
    }
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: nil)
    configuration.downloads = .prompt
    return ThumbnailPipeline(configuration, transport: transport)
  }

  struct Load: Sendable, CustomTestStringConvertible {
    let paths: [String]
    var isDelayed = false
    var isCancelled = false
    var testDescription: String {
      paths.joined(separator: ", ") + (isDelayed ? ", after a milestone" : "") + (isCancelled ? ", cancelled" : "")
    }
  }

  static let loads: [Load] = [["a"], ["held"], ["gone", "b"], ["gone", "gone"], ["gone", "held"]].flatMap { paths in
    [(false, false), (false, true), (true, false), (true, true)].map { isDelayed, isCancelled in
      Load(paths: paths, isDelayed: isDelayed, isCancelled: isCancelled)
    }
  }.filter { $0.isCancelled || !$0.paths.contains("held") }

  @Test(arguments: loads) func `Of a load`(load: Load) async throws {
    let pipeline = pipeline()
    let milestone = Milestone()
    var request = ThumbnailRequest(url: "http://a.test/\(load.paths[0])", size: 4)
    request.mirrors = load.paths.dropFirst().map { "http://a.test/\($0)" }
    request.after = load.isDelayed ? [milestone] : []
    try await released { owner in
      pipeline.load(request) { _ in owner.hear() }
    } then: { token in
      if load.isCancelled { token.cancel() } else { milestone.reach() }
    }
    // It may be reached later, or never.
    withExtendedLifetime(milestone) {}
    await eventually { pipeline.runningCount == 0 }
  }
}
