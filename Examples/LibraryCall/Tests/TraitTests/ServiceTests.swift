import BatchFetch
import DownloadsTesting
import ServiceLifecycleTestKit
import Testing

/// A pipeline as a service, with the trait `ServiceLifecycle`.
@Suite(.timeLimit(.minutes(1))) struct ServiceTests {
  private let transport = StubTransport()
  private let pipeline: ThumbnailPipeline
  private let request = ThumbnailRequest(url: "https://images.example/a.png", size: 24)

  init() { pipeline = ThumbnailPipeline(.init(cacheDirectory: nil), transport: transport) }

  @Test func `A graceful shutdown gives the requests in flight their time, and refuses later ones`() async throws {
    await testGracefulShutdown { shutdown in
      async let service: Void = PipelineService(pipeline, within: .seconds(30)).run()
      async let missing = code(of: request)
      let transfer = await transport.nextTransfer()
      shutdown.triggerGracefulShutdown()
      // The service has begun to end when it refuses a request.
      while await code(of: ThumbnailRequest(url: "data:,", size: 24)) != .cancelled {}
      transfer?.respond(.notFound, length: 0)
      transfer?.end()
      await #expect(missing == .http(404))
      await service
    }
  }

  @Test func `A task that is canceled cancels the requests in flight`() async throws {
    let service = Task { await PipelineService(pipeline).run() }
    async let canceled = code(of: request)
    _ = await transport.nextTransfer()
    service.cancel()
    await #expect(canceled == .cancelled)
    await service.value
  }

  private func code(of request: ThumbnailRequest) async -> FailureCode? {
    do {
      _ = try await pipeline.thumbnails(for: request)
      return nil
    } catch {
      return error.code
    }
  }
}
