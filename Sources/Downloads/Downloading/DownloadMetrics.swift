internal import CoreMetrics
internal import HTTPTypes
internal import Synchronization

/// The metrics of a downloader. The handles are made once, because making one may take a lock.
final class DownloadMetrics: Sendable {
  private let factory: any MetricsFactory
  private let bytes: Counter
  private let time: CoreMetrics.Timer
  private let done: Counter
  /// A counter per failure code, made at the first failure with it.
  private let failures = Mutex<[FailureCode: Counter]>([:])

  init(_ factory: any MetricsFactory) {
    self.factory = factory
    bytes = Counter(label: "thumbs_downloaded_bytes_total", factory: factory)
    time = CoreMetrics.Timer(label: "thumbs_download_seconds", preferredDisplayUnit: .seconds, factory: factory)
    done = Self.counter(code: "", factory)
  }

  /// Counts a download that has ended.
  func record(_ result: Result<Download, FetchFailure>) {
    switch result {
    case .success(let download):
      let status = download.response.status.code
      guard status < 400 else { return counter(of: .http(status)).increment() }
      done.increment()
      bytes.increment(by: download.length)
      time.record(download.elapsed)
    case .failure(let failure): counter(of: failure.code).increment()
    }
  }

  private func counter(of code: FailureCode) -> Counter {
    failures.withLock { failures in
      if let known = failures[code] { return known }
      let counter = Self.counter(code: "\(code)", factory)
      failures[code] = counter
      return counter
    }
  }

  private static func counter(code: String, _ factory: any MetricsFactory) -> Counter {
    Counter(label: "thumbs_downloads_total", dimensions: [("code", code)], factory: factory)
  }
}

extension CoreMetrics.Timer {
  /// Records a duration; a negative one as zero.
  package func record(_ duration: Duration) {
    let (seconds, attoseconds) = max(.zero, duration).components
    recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }
}
