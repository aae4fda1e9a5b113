import BatchFetch
import Foundation
import Synchronization

/// A benchmark of the downloader. Each completion starts the next download, so that no thread is woken for it.
final class DownloaderBench: Sendable {
  private let downloader: Downloader
  /// The number of downloads in flight.
  private let window: Int
  private let sample: Int?
  private let sums = Mutex((started: 0, done: 0, good: 0, bytes: 0))
  private let group = DispatchGroup()

  /// - Parameters:
  ///   - transport: exchanges requests and responses.
  ///   - width: the number of simultaneous downloads, from one host too.
  ///   - sample: the number of downloads after which the memory in use is printed. Default nil: never.
  init(_ transport: CurlTransport, width: Int, sample: Int? = nil) {
    var configuration = Downloader.Configuration()
    configuration.concurrency = width
    configuration.perHost = width
    downloader = Downloader(configuration, transport: transport)
    window = 4 * width
    self.sample = sample
  }

  func run(_ urls: [String]) -> (Int, Int) {
    for _ in 0..<min(window, urls.count) { startNext(of: urls) }
    group.wait()
    return sums.withLock { ($0.good, $0.bytes) }
  }

  private func startNext(of urls: [String]) {
    let index = sums.withLock { sums in
      defer { sums.started += 1 }
      return sums.started
    }
    guard urls.indices.contains(index) else { return }
    guard let source = try? SourceURL(urls[index]) else { fatalError("Not a URL: \(urls[index])") }
    group.enter()
    downloader.download(DownloadRequest(source: source)) { [self] result in
      let done = count(result)
      if let sample, done % sample == 0 { report(done) }
      startNext(of: urls)
      group.leave()
    }
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
