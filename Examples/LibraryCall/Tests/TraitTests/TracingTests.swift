import BatchFetch
import DownloadsTesting
import InMemoryTracing
import Testing
import Tracing

/// The spans of requests, with the trait `Tracing`.
@Suite(.timeLimit(.minutes(1))) struct TracingTests {
  private static let tracer: InMemoryTracer = {
    let tracer = InMemoryTracer()
    InstrumentationSystem.bootstrap(tracer)
    return tracer
  }()

  @Test func `A request is a span within that of its task, without credentials`() async throws {
    let tracer = Self.tracer
    let pipeline = ThumbnailPipeline(.init(cacheDirectory: nil), transport: StubTransport([:]))

    await withSpan("page") { _ in
      let request = ThumbnailRequest(url: "https://me:secret@images.example/missing.png", size: 24)
      await #expect(throws: FetchFailure.self) { try await pipeline.thumbnails(for: request) }
    }

    let spans = tracer.finishedSpans
    let page = try #require(spans.first { $0.operationName == "page" })
    let span = try #require(spans.first { $0.parentSpanID == page.spanID })
    #expect(span.operationName == "thumbs.thumbnails")
    #expect(span.status?.code == .error)
    #expect(span.errors.count == 1)
    #expect(span.attributes.get("url.full") == "https://***@images.example/missing.png")
    #expect(span.attributes.get("error.type") == "http_404")
    #expect(span.attributes.get("http.response.status_code") == 404)
  }
}
