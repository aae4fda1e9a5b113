import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

/// `self.token = downloader.download(…) { self… }` does not leak: after the end, the token keeps no closure, so that
/// the object that holds the token is released with the last reference from outside.
@Suite(.timeLimit(.minutes(10))) struct DownloadLeakTests {
  private typealias Owner = TokenOwner<DownloadToken>

  private let transport = ScriptedTransport { request, _ in
    switch request.source.lastPathComponent {
    case "held": [.head(200, [:]), .bytes([1]), .hold]
    case "failing": [.fail(.tls)]
    default: .response([1])
    }
  }

  private func downloader() -> Downloader { Downloader(.prompt, transport: transport) }

  @Test(arguments: ["whole", "failing"])
  func `The owner of a token is released after its download has ended`(path: String) async throws {
    let downloader = downloader()
    let isReleased = try await Owner.isReleased { owner in
      downloader.download(
        try DownloadRequest(path), progress: { _ in owner.touch() }, completion: { _ in owner.end() })
    }
    #expect(isReleased)
  }

  @Test(arguments: ["whole", "held"])
  func `The owner of a token is released after it canceled its download`(path: String) async throws {
    let downloader = downloader()
    let isReleased = try await Owner.isReleased { owner in
      downloader.download(
        try DownloadRequest(path), progress: { _ in owner.touch() }, completion: { _ in owner.end() })
    } then: {
      $0.cancel()
    }
    #expect(isReleased)
  }

  @Test func `The owner of a token is released after it left a download that goes on for others`() async throws {
    let downloader = downloader()
    let other = downloader.start(try DownloadRequest("held"))
    let isReleased = try await Owner.isReleased { owner in
      downloader.download(
        try DownloadRequest("held"), progress: { _ in owner.touch() }, completion: { _ in owner.end() })
    } then: {
      $0.cancel()
    }
    #expect(isReleased)
    #expect(downloader.runningCount == 1)
    other.token.cancel()
  }

  @Test func `The owner of a token is released after it canceled a paused download`() async throws {
    let downloader = downloader()
    let isReleased = try await Owner.isReleased { owner in
      downloader.download(
        try DownloadRequest("held"), progress: { _ in owner.touch() }, completion: { _ in owner.end() })
    } then: {
      $0.pause()
      $0.cancel()
    }
    #expect(isReleased)
  }

  @Test func `The owner of a token is released after its download was refused`() async throws {
    let downloader = downloader()
    let isReleased = try await Owner.isReleased { owner in
      downloader.download(DownloadRequest(source: try SourceURL("file:///a"))) { _ in owner.end() }
    }
    #expect(isReleased)
  }

  @Test func `The owner of a token is released after the end of a download that waited for another one`() async throws {
    let downloader = downloader()
    let first = downloader.start(try DownloadRequest("first"))
    let isReleased = try await Owner.isReleased { owner in
      downloader.download(try DownloadRequest("b"), after: [first.token], progress: { _ in owner.touch() }) { _ in
        owner.end()
      }
    }
    #expect(isReleased)
  }

  /// A download whose request, which captures the owner, is made once `dependency` has ended.
  private func download(
    after dependency: DownloadToken, on downloader: Downloader, for owner: Owner
  ) -> DownloadToken {
    downloader.download(after: [dependency], progress: { _ in owner.touch() }) { _ throws(FetchFailure) in
      owner.touch()
      return DownloadRequest(source: try SourceURL("http://a.test/b"))
    } completion: { _ in
      owner.end()
    }
  }

  @Test func `The owner of a token is released after a download whose request was made late`() async throws {
    let downloader = downloader()
    let first = downloader.start(try DownloadRequest("first"))
    #expect(await Owner.isReleased { download(after: first.token, on: downloader, for: $0) })
  }

  @Test func `The owner of a token is released after it canceled a download that waited for another one`()
    async throws
  {
    let downloader = downloader()
    let held = downloader.start(try DownloadRequest("held"))
    let isReleased = await Owner.isReleased {
      download(after: held.token, on: downloader, for: $0)
    } then: {
      $0.cancel()
    }
    #expect(isReleased)
    // The download that it waited for continues.
    #expect(downloader.runningCount == 1)
    held.token.cancel()
  }
}
