import HTTPTypes
import TestSupport

@testable import BatchFetch

typealias Outcome = Result<Download, FetchFailure>

extension Downloader.Configuration {
  /// No deadline, no pause between attempts, every report of progress.
  static var prompt: Downloader.Configuration {
    var configuration = patient
    configuration.retry = RetryPolicy(limit: 3, base: .zero)
    configuration.progressInterval = .zero
    return configuration
  }

  func with(_ change: (inout Downloader.Configuration) -> Void) -> Downloader.Configuration {
    var configuration = self
    change(&configuration)
    return configuration
  }
}

extension DownloadRequest {
  init(_ path: String, host: String = "a.test", headerFields: HTTPFields = [:]) throws {
    self.init(source: try SourceURL("http://\(host)/\(path)"), headerFields: headerFields)
  }
}

extension Downloader {
  /// Asks for `request`; what it comes to is recorded.
  func start(
    _ request: DownloadRequest, after dependencies: [DownloadToken] = [], progress: DownloadProgress.Handler? = nil
  ) -> (token: DownloadToken, outcome: Recorder<Outcome>) {
    let outcome = Recorder<Outcome>()
    return (download(request, after: dependencies, progress: progress) { outcome.record($0) }, outcome)
  }
}

extension Recorder where Value == Outcome {
  /// The one outcome, when it is there.
  func only() async -> Outcome { await values(count: 1)[0] }
}

extension Outcome {
  var body: [UInt8]? { try? get().body }
}
