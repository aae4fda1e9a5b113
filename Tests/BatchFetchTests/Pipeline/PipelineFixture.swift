import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import Logging
import TestSupport

@testable import BatchFetch

/// A server, a cache directory and the pipelines that use them.
struct PipelineFixture {
  let server: LoopbackServer
  let directory: TemporaryDirectory

  init(_ handler: @escaping LoopbackServer.Handler) throws {
    server = try LoopbackServer(handler)
    directory = try TemporaryDirectory()
  }

  /// A pipeline as a new run of the command would make it: it shares only the disk cache with earlier ones.
  func pipeline(
    mode: CacheMode = .normal, now: @escaping @Sendable () -> Date = { Date() },
    transport: CurlTransport.Configuration = .direct,
    change: (inout ThumbnailPipeline.Configuration) -> Void = { _ in }
  ) -> ThumbnailPipeline {
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.path("cache"))
    configuration.cacheMode = mode
    configuration.downloads = .patient
    configuration.downloads.now = now
    configuration.downloads.retry = RetryPolicy(limit: 0)
    change(&configuration)
    return ThumbnailPipeline(configuration, transport: CurlTransport(transport))
  }

  func request(_ path: String, size: Int = 16) -> ThumbnailRequest {
    ThumbnailRequest(url: server.url(path), size: size)
  }
}

extension ServerReply {
  /// A response with an image, fresh for an hour by default.
  static func image(_ seed: Int = 0, fields: [String: String] = ["Cache-Control": "max-age=3600"]) -> ServerReply {
    .http(200, fields, SampleImage.png(width: 40, height: 30, seed: seed))
  }
}
