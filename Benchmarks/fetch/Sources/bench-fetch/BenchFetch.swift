import BareLoop
import BatchFetch
import Foundation
import Synchronization

/// `bench-fetch bare|transport|ours|soak WIDTH COUNT URL...` downloads the URLs in turn, COUNT times in all and WIDTH
/// at once. It prints one JSON object: wall and CPU seconds of the downloads alone, the number of successful downloads,
/// their bytes, and the peak memory.
///
/// `bare` is a plain loop over libcurl, `transport` our event loop without the downloader, and `ours` the downloader.
/// `soak` is `ours`, and also prints the memory in use after every tenth of the downloads to standard error.
@main
enum BenchFetch {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count > 4, let width = Int(arguments[2]), let count = Int(arguments[3]) else {
      return print("bench-fetch bare|transport|ours|soak WIDTH COUNT URL...")
    }
    let urls = (0..<count).map { arguments[4 + $0 % (arguments.count - 4)] }
    let (begin, cpu) = (ContinuousClock.now, usage().cpu)
    let (good, bytes) =
      switch arguments[1] {
      case "bare": bare(urls, width: width)
      case "transport": TransportBench(width: width).run(urls)
      case "soak": ours(urls, width: width, sample: count / 10)
      default: ours(urls, width: width, sample: nil)
      }
    let (seconds, after) = (begin.duration(to: .now) / .seconds(1), usage())
    print(
      #"{"seconds":\#(seconds),"cpu":\#(after.cpu - cpu),"good":\#(good),"bytes":\#(bytes),"peak":\#(after.peak)}"#)
  }

  private static func bare(_ urls: [String], width: Int) -> (Int, Int) {
    let strings = urls.map { strdup($0) }
    defer { for string in strings { free(string) } }
    var bytes = 0
    let good = bare_loop(strings.map { UnsafePointer($0) }, urls.count, width, &bytes)
    return (good, bytes)
  }

  /// Downloads with the downloader. A semaphore bounds the number of waiting downloads.
  private static func ours(_ urls: [String], width: Int, sample: Int?) -> (Int, Int) {
    var configuration = Downloader.Configuration()
    configuration.concurrency = width
    configuration.perHost = width
    let downloader = Downloader(configuration)
    let window = DispatchSemaphore(value: 4 * width)
    let sums = Mutex((done: 0, good: 0, bytes: 0))
    let group = DispatchGroup()
    for url in urls {
      window.wait()
      group.enter()
      guard let source = try? SourceURL(url) else { fatalError("Not a URL: \(url)") }
      downloader.download(DownloadRequest(source: source)) { result in
        let done = sums.withLock { sums in
          sums.done += 1
          if case .success(let download) = result, download.response.status == .ok {
            sums.good += 1
            sums.bytes += download.body.count
          }
          return sums.done
        }
        if let sample, done % sample == 0 { report(done) }
        window.signal()
        group.leave()
      }
    }
    group.wait()
    return sums.withLock { ($0.good, $0.bytes) }
  }

  /// Prints the memory in use, from `/proc/self/statm`, whose second number counts pages.
  private static func report(_ done: Int) {
    let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
    let pages = fields.count > 1 ? Int(fields[1]) ?? 0 : 0
    FileHandle.standardError.write(Data("\(done) \(pages * sysconf(Int32(_SC_PAGESIZE)))\n".utf8))
  }

  private static func usage() -> (cpu: Double, peak: Int) {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return (seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss << 10)
  }
}
