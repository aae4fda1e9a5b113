import BatchFetch
import Foundation
import Synchronization

/// A benchmark of a batch: one thumbnail of each image, without a disk cache, and with the standard limit per host.
struct BatchBench {
  private let pipeline: ThumbnailPipeline

  /// - Parameters:
  ///   - transport: exchanges requests and responses.
  ///   - width: the number of simultaneous downloads, over all hosts.
  init(_ transport: CurlTransport, width: Int) {
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: nil)
    configuration.downloads.concurrency = width
    pipeline = ThumbnailPipeline(configuration, transport: transport)
  }

  func run(_ urls: [String]) -> (Int, Int) {
    let good = Mutex(0)
    let batch = Batch(urls.map { ThumbnailRequest(url: $0, size: 8) }, over: pipeline)
    let run = batch.start { item in
      if case .success = item.outcome { good.withLock { $0 += 1 } }
    }
    run.group.wait()
    return (good.withLock { $0 }, pipeline.downloadedBytes)
  }
}
