import BatchFetch
import Foundation
import Synchronization

/// A benchmark of the downloader. A semaphore bounds the number of waiting downloads.
final class DownloaderBench: Sendable {
  private let downloader: Downloader
  private let window: DispatchSemaphore
  private let sample: Int?
  private let sums = Mutex((done: 0, good: 0, bytes: 0))

  /// - Parameters:
  ///   - transport: exchanges requests and responses.
  ///   - width: the number of simultaneous downloads, from one host too.
  ///   - sample: the number of downloads after which the memory in use is printed. Default nil: never.
  init(_ transport: CurlTransport, width: Int, sample: Int? = nil) {
    var configuration = Downloader.Configuration()
    configuration.concurrency = width
    configuration.perHost = width
    downloader = Downloader(configuration, transport: transport)
    window = DispatchSemaphore(value: 4 * width)
    self.sample = sample
  }

  func run(_ urls: [String]) -> (Int, Int) {
    let group = DispatchGroup()
    for url in urls {
      window.wait()
      group.enter()
      guard let source = try? SourceURL(url) else { fatalError("Not a URL: \(url)") }
      downloader.download(DownloadRequest(source: source)) { [self] result in
        let done = count(result)
        if let sample, done % sample == 0 { report(done) }
        window.signal()
        group.leave()
      }
    }
    group.wait()
    return sums.withLock { ($0.good, $0.bytes) }
  }

  /// Returns the number of downloads that have ended.
  private func count(_ result: Result<Download, FetchFailure>) -> Int {
    sums.withLock { sums in
      sums.done += 1
      if case .success(let download) = result, download.response.status == .ok {
        sums.good += 1
        sums.bytes += download.body.count
      }
      return sums.done
    }
  }

  /// Prints the memory in use, from `/proc/self/statm`, whose second number counts pages.
  private func report(_ done: Int) {
    let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
    let pages = fields.count > 1 ? Int(fields[1]) ?? 0 : 0
    FileHandle.standardError.write(Data("\(done) \(pages * sysconf(Int32(_SC_PAGESIZE)))\n".utf8))
  }
}
