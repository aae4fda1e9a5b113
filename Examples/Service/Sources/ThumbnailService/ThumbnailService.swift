import ArgumentParser
import BatchFetch
import Hummingbird
import ImageCache
import ServiceLifecycle

/// Serves thumbnails of images on the Internet: `GET /thumbnail?url=URL&size=PIXELS`.
@main struct ThumbnailService: AsyncParsableCommand {
  @Argument(help: "Directory of the cache.")
  var cacheDirectory: String

  @Option(help: "Port to listen on; 0 for any free one.")
  var port = 8080

  @Option(help: "Maximum time for one request, in seconds.")
  var timeout = 20

  @Flag(help: "Allow images at private and loopback addresses.")
  var allowPrivate = false

  func run() async throws {
    let pipeline = ThumbnailPipeline(configuration)
    let endpoint = ThumbnailEndpoint(pipeline: pipeline, timeout: .seconds(timeout))
    let router = Router()
    router.get("thumbnail") { request, _ in
      // Cancels the task when the client disconnects. Hummingbird then uses no connection for a second request.
      try await request.body.consumeWithCancellationOnInboundClose { _ in try await endpoint.response(to: request) }
    }
    let server = Application(
      router: router, server: .http1(configuration: .init(idleTimeout: .seconds(60))),
      configuration: .init(address: .hostname(port: port)))

    // A group stops its services in reverse order. The server waits for its requests, so the pipeline ends them first.
    var services = ServiceGroupConfiguration(
      services: [server, PipelineService(pipeline, within: .seconds(3))], gracefulShutdownSignals: [.sigterm, .sigint],
      logger: server.logger)
    // No client may hold up the end for longer.
    services.maximumGracefulShutdownDuration = .seconds(5)
    try await ServiceGroup(configuration: services).run()
  }

  /// The limits for URLs that anybody may request.
  private var configuration: ThumbnailPipeline.Configuration {
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: cacheDirectory)
    // A kept original makes further sizes of its image without a request.
    configuration.cache.originals = .share(percent: 50)
    configuration.maxPixels = 50_000_000
    configuration.downloads.limits.maxBytes = 16 << 20
    configuration.downloads.limits.addresses = allowPrivate ? .noLinkLocal : .publicOnly
    configuration.downloads.concurrency = 64
    configuration.downloads.retry.limit = 1
    return configuration
  }
}
