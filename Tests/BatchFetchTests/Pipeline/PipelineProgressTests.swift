import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BatchFetch

/// The progress of requests for thumbnails.
@Suite(.timeLimit(.minutes(20))) struct PipelineProgressTests {
  private static let image = SampleImage.png(width: 8, height: 8)

  /// Sends an image in two pieces, and holds the second until the test resumes. `gone` then fails instead.
  private let transport = ScriptedTransport { request, _ in
    let name = request.source.lastPathComponent
    let (first, rest) = (Array(image.prefix(40)), Array(image.dropFirst(40)))
    let head = ScriptedTransport.Step.head(200, [.contentLength: "\(image.count)"])
    if name == "gone" { return [head, .bytes(first), .hold, .fail(.tooManyRedirects)] }
    return [head, .bytes(first), .hold, .bytes(rest), .end]
  }

  private func pipeline() -> ThumbnailPipeline {
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: nil)
    configuration.downloads = .prompt
    return ThumbnailPipeline(configuration, transport: transport)
  }

  private func request(_ name: String) -> ThumbnailRequest { ThumbnailRequest(url: "http://a.test/\(name)", size: 4) }

  @Test func `Progress is reported during the download, and last for the whole body`() async throws {
    let (progress, outcome) = (Recorder<DownloadProgress>(), Recorder<Bool>())
    let total = Self.image.count

    pipeline().load(request("a")) {
      progress.record($0)
    } completion: {
      outcome.record($0.failure == nil)
    }
    #expect(await progress.values(count: 1) == [DownloadProgress(attempt: 1, received: 40, total: total)])
    await transport.exchanges.values(count: 1)[0].resume()

    #expect(await outcome.values(count: 1) == [true])
    #expect(progress.values.last == DownloadProgress(attempt: 1, received: total, total: total))
  }

  @Test func `A caller that joins late gets the progress so far`() async throws {
    let pipeline = pipeline()
    let (first, late) = (Recorder<DownloadProgress>(), Recorder<DownloadProgress>())

    let token = pipeline.load(request("a")) {
      first.record($0)
    } completion: { _ in
    }
    _ = await first.values(count: 1)
    let lateToken = pipeline.load(request("a")) {
      late.record($0)
    } completion: { _ in
    }

    #expect(await late.values(count: 1).map(\.received) == [40])
    token.cancel()
    lateToken.cancel()
  }

  @Test func `A caller that wants progress can join one that does not`() async throws {
    let pipeline = pipeline()
    let (progress, outcomes) = (Recorder<DownloadProgress>(), Recorder<Bool>())

    pipeline.load(request("a")) { outcomes.record($0.failure == nil) }
    let exchange = await transport.exchanges.values(count: 1)[0]
    pipeline.load(request("a")) {
      progress.record($0)
    } completion: {
      outcomes.record($0.failure == nil)
    }
    exchange.resume()

    #expect(await outcomes.values(count: 2) == [true, true])
    #expect(progress.values.last?.received == Self.image.count)
  }

  @Test func `Progress of a mirror continues after that of a URL that failed`() async throws {
    let progress = Recorder<DownloadProgress>()
    var request = request("gone")
    request.mirrors = ["http://a.test/mirror"]

    let token = pipeline().load(request) {
      progress.record($0)
    } completion: { _ in
    }

    // Later progress replaces progress that was not delivered.
    _ = await progress.values(count: 1)
    await transport.exchanges.values(count: 1)[0].resume()
    #expect(await progress.values(count: 2).map(\.attempt) == [1, 2])
    token.cancel()
  }

  @Test func `A memory hit has no progress`() async throws {
    let pipeline = pipeline()
    let (progress, outcomes) = (Recorder<DownloadProgress>(), Recorder<ThumbnailSet.Origin?>())
    pipeline.load(request("a")) { outcomes.record(try? $0.get().origin) }
    await transport.exchanges.values(count: 1)[0].resume()
    _ = await outcomes.values(count: 1)

    var again = request("a")
    again.since = .now - .seconds(60)
    pipeline.load(again) {
      progress.record($0)
    } completion: {
      outcomes.record(try? $0.get().origin)
    }

    #expect(await outcomes.values(count: 2) == [.network, .memory])
    #expect(progress.values.isEmpty)
  }
}
