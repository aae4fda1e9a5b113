import CoreMetrics
import MetricsTestKit
import TestSupport
import Testing

@testable import BatchFetch

@Suite(.timeLimit(.minutes(20))) struct PipelineMetricsTests {
  private static func value(_ metrics: TestMetrics, _ name: String, _ labels: [(String, String)] = []) throws -> Int64 {
    try metrics.expectCounter(name, labels).totalValue
  }

  @Test func `A pipeline counts downloads, renders and cache hits with the injected factory`() async throws {
    let fixture = try PipelineFixture { $0.target == "/gone.png" ? .http(404) : .image() }
    let metrics = TestMetrics()
    let pipeline = fixture.pipeline(change: { $0.downloads.metrics = metrics })
    let length = SampleImage.png(width: 40, height: 30, seed: 0).count

    _ = try await pipeline.thumbnails(for: fixture.request("/a.png"))
    _ = try await pipeline.thumbnails(for: fixture.request("/a.png"))
    await #expect(throws: FetchFailure.self) { try await pipeline.thumbnails(for: fixture.request("/gone.png")) }
    await pipeline.flush()
    pipeline.updateGauges()

    #expect(try Self.value(metrics, "thumbs_renders_total") == 1)
    #expect(try Self.value(metrics, "thumbs_downloaded_bytes_total") == Int64(length))
    #expect(try Self.value(metrics, "thumbs_cache_hits_total", [("tier", "memory")]) == 1)
    #expect(try Self.value(metrics, "thumbs_cache_misses_total", [("tier", "disk")]) == 2)
    #expect(try metrics.expectTimer("thumbs_download_seconds").displayUnit == .seconds)
    #expect(try metrics.expectTimer("thumbs_render_seconds").values.count == 1)
    #expect(try metrics.expectGauge("thumbs_images_in_flight").lastValue == 0)
    #expect(try metrics.expectGauge("thumbs_queue_depth", [("queue", "transfer")]).lastValue == 0)
    #expect(try #require(metrics.expectGauge("thumbs_cache_size_bytes", [("tier", "disk")]).lastValue) > 0)
    #expect(try #require(metrics.expectGauge("thumbs_cache_size_bytes", [("tier", "memory")]).lastValue) > 0)
  }

  @Test func `The failures of downloads are counted by code`() async throws {
    let fixture = try PipelineFixture { _ in .http(503) }
    let metrics = TestMetrics()
    let pipeline = fixture.pipeline(change: { $0.downloads.metrics = metrics })
    for path in ["/a.png", "/b.png"] {
      await #expect(throws: FetchFailure.self) { try await pipeline.thumbnails(for: fixture.request(path)) }
    }
    #expect(try Self.value(metrics, "thumbs_downloads_total", [("code", "http_503")]) == 2)
  }
}
