import BatchFetch
import ServiceLifecycle

/// Ends the pipeline when the program is to stop.
struct PipelineService: Service {
  let pipeline: ThumbnailPipeline

  func run() async throws {
    try await gracefulShutdown()
    await pipeline.shutdown(within: .seconds(3))
  }
}
