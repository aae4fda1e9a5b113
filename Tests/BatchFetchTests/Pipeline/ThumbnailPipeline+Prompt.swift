import DownloadSupport
import ImageCache

@testable import BatchFetch

extension ThumbnailPipeline {
  /// A pipeline in memory, without deadlines and without pauses between attempts, which reports all progress.
  static func prompt(
    over transport: any Transport, change: (inout Configuration) -> Void = { _ in }
  ) -> ThumbnailPipeline {
    var configuration = Configuration(cacheDirectory: nil)
    configuration.downloads = .prompt
    change(&configuration)
    return ThumbnailPipeline(configuration, transport: transport)
  }
}
