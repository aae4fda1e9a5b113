import DownloadSupport
import HTTPTypes
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

/// Settings of single requests that differ from those of their pipeline.
@Suite(.timeLimit(.minutes(10))) struct RequestOptionsTests {
  private static let image = SampleImage.png(width: 40, height: 30, seed: 1)

  private func fixture() throws -> PipelineFixture {
    try PipelineFixture { request in
      let fields = ["Cache-Control": "max-age=3600", "ETag": "\"1\""]
      if request.target == "/busy.png" { return .http(503) }
      return request.fields["if-none-match"] == nil ? .http(200, fields, Self.image) : .http(304, fields)
    }
  }

  private func code(
    _ request: ThumbnailRequest, _ pipeline: ThumbnailPipeline, _ change: (inout RequestOptions) -> Void
  ) async -> FailureCode? {
    var request = request
    change(&request.options)
    do throws(FetchFailure) {
      _ = try await pipeline.thumbnails(for: request)
      return nil
    } catch {
      return error.code
    }
  }

  @Test func `A request may revalidate a fresh entry, or use only the cache`() async throws {
    let fixture = try fixture()
    let pipeline = fixture.pipeline()
    var request = fixture.request("/a.png")
    request.options.cacheMode = .offline
    #expect(await code(request, pipeline) { _ in } == .offlineMiss)
    request.options.cacheMode = nil

    #expect(try await pipeline.thumbnails(for: request).origin == .network)
    #expect(try await pipeline.thumbnails(for: request).origin == .memory)
    request.options.cacheMode = .refresh
    #expect(try await pipeline.thumbnails(for: request).origin == .revalidated)
    request.options.cacheMode = .offline
    #expect(try await pipeline.thumbnails(for: request).origin == .memory)
    #expect(fixture.server.requests.count == 2)
  }

  @Test func `Limits of bytes and pixels fail only the request that has them, and nothing is remembered`()
    async throws
  {
    let fixture = try fixture()
    let pipeline = fixture.pipeline()
    let request = fixture.request("/a.png")

    #expect(
      await code(request, pipeline) {
        $0.limits = TransferLimits()
        $0.limits?.maxBytes = 10
      } == .tooLargeBytes)
    #expect(await code(request, pipeline) { $0.maxPixels = 1199 } == .image(.tooManyPixels))
    #expect(await code(request, pipeline) { $0.maxPixels = 1200 } == nil)
    // The entry is in the cache by now, and serving it decodes nothing.
    #expect(await code(request, pipeline) { $0.maxPixels = 1 } == nil)
    #expect(pipeline.decodeCount == 1)
  }

  @Test func `A request may have its own rule for IP addresses, and other limits do not change that of the pipeline`()
    async throws
  {
    let fixture = try fixture()
    let request = fixture.request("/a.png")
    let strict = fixture.pipeline(change: { $0.downloads.limits.addresses = .publicOnly })

    #expect(await code(request, fixture.pipeline()) { $0.addresses = .publicOnly } == .blockedAddress)
    #expect(await code(request, strict) { $0.limits = TransferLimits() } == .blockedAddress)
    #expect(await code(request, fixture.pipeline()) { $0.limits = TransferLimits() } == nil)
  }

  @Test(arguments: [0, 2]) func `A request may have its own policy for retries`(limit: Int) async throws {
    let fixture = try fixture()
    let pipeline = fixture.pipeline(change: { $0.downloads.retry = RetryPolicy(limit: 1, base: .zero) })

    let retry = RetryPolicy(limit: limit, base: .zero)
    #expect(await code(fixture.request("/busy.png"), pipeline) { $0.retry = retry } == .http(503))
    #expect(fixture.server.requests.count == limit + 1)
  }

  @Test func `Requests that differ in their cache mode share a download, and those that differ in limits do not`()
    async throws
  {
    let transport = ScriptedTransport { _, _ in [.hold] + .response(Self.image) }
    let pipeline = ThumbnailPipeline.prompt(over: transport)
    let (outcomes, strict) = (Recorder<Bool>(), Recorder<FailureCode?>())
    func load(_ change: (inout RequestOptions) -> Void, completion: @escaping ThumbnailPipeline.Completion) {
      var request = ThumbnailRequest(url: "http://a.test/x", size: 16)
      change(&request.options)
      pipeline.load(request, completion: completion)
    }

    load {
      $0.maxPixels = 10
    } completion: {
      strict.record($0.failure?.code)
    }
    load { _ in
    } completion: {
      outcomes.record($0.failure == nil)
    }
    load {
      $0.cacheMode = .refresh
    } completion: {
      outcomes.record($0.failure == nil)
    }
    load {
      $0.limits = TransferLimits()
    } completion: {
      outcomes.record($0.failure == nil)
    }
    await transport.resume(first: 3)

    #expect(await outcomes.values(count: 3) == [true, true, true])
    #expect(await strict.values(count: 1) == [.image(.tooManyPixels)])
    #expect(transport.requests.count == 3)
  }

  @Test func `A limit of pixels on a kept original fails the request, and sends none`() async throws {
    let fixture = try fixture()
    let pipeline = fixture.pipeline(change: { $0.cache.originals = .standard })
    _ = try await pipeline.thumbnails(for: fixture.request("/a.png"))
    await pipeline.flush()

    let other = fixture.request("/a.png", size: 8)
    #expect(await code(other, pipeline) { $0.maxPixels = 10 } == .image(.tooManyPixels))
    #expect(await code(other, pipeline) { $0.maxPixels = 5000 } == nil)
    #expect(fixture.server.requests.count == 1)
  }

  @Test func `An image in the cache is served only by the rule for IP addresses by which it was requested`()
    async throws
  {
    let fixture = try fixture()
    let pipeline = fixture.pipeline(change: { $0.downloads.limits.addresses = .publicOnly })
    let request = fixture.request("/a.png")
    let exception = AddressPolicy.publicOnly(except: [.addresses(try AddressRange("127.0.0.0/8"))])

    #expect(await code(request, pipeline) { $0.addresses = exception } == nil)
    #expect(await code(request, pipeline) { _ in } == .blockedAddress)
    #expect(await code(request, pipeline) { $0.addresses = exception } == nil)
    #expect(fixture.server.requests.count == 1)
  }
}
