package import Downloads
package import HTTPTypes
package import TestSupport

package typealias Outcome = Result<Download, FetchFailure>

extension Downloader.Configuration {
  /// A configuration without deadlines and without pauses between attempts, which reports all progress.
  package static var prompt: Downloader.Configuration {
    var configuration = patient
    configuration.retry = RetryPolicy(limit: 3, base: .zero)
    configuration.progressInterval = .zero
    return configuration
  }

  /// A prompt configuration for one download at a time.
  package static var serial: Downloader.Configuration {
    prompt.with {
      $0.concurrency = 1
      $0.perHost = 1
    }
  }

  package func with(_ change: (inout Downloader.Configuration) -> Void) -> Downloader.Configuration {
    var configuration = self
    change(&configuration)
    return configuration
  }
}

extension DownloadRequest {
  package init(
    _ path: String, host: String = "a.test", headerFields: HTTPFields = [:],
    priority: Priority = .normal
  ) throws {
    self.init(source: try SourceURL("http://\(host)/\(path)"), headerFields: headerFields, priority: priority)
  }
}

extension DownloadRequest {
  /// The same request, for which every status is a success.
  package var acceptingAll: DownloadRequest {
    var request = self
    request.responses.statuses = .all
    return request
  }
}

extension SourceURL {
  /// The part of the path after the last slash.
  package var lastPathComponent: String { String(description.split(separator: "/").last ?? "") }
}

extension TransferRequest {
  /// The first byte that the `Range` field requests.
  package var firstByte: Int? {
    headerFields[.range].flatMap { Int($0.drop { !$0.isNumber }.prefix { $0.isNumber }) }
  }
}

extension Downloader {
  /// Starts the download of `request`, and records its outcome.
  package func start(
    _ request: DownloadRequest, after dependencies: [DownloadToken] = [], progress: DownloadProgress.Handler? = nil
  ) -> (token: DownloadToken, outcome: Recorder<Outcome>) {
    let outcome = Recorder<Outcome>()
    return (download(request, after: dependencies, progress: progress) { outcome.record($0) }, outcome)
  }
}

extension Recorder where Value == Outcome {
  /// The one outcome, as soon as it is known.
  package func only() async -> Outcome { await values(count: 1)[0] }
}

extension Outcome {
  package var body: [UInt8]? { try? get().body }
}
