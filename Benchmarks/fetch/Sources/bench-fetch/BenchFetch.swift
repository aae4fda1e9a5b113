import BareLoop
import BatchFetch
import Foundation

/// `bench-fetch MODE WIDTH COUNT AUTHORITIES URL...` downloads the URLs in turn, COUNT times in all and WIDTH at once,
/// and trusts the certificate authorities in a PEM file. It prints one JSON object: wall and CPU seconds of the
/// downloads alone, the number of successful downloads, their bytes, and the peak memory.
///
/// The modes:
/// - `bare` is a plain loop over libcurl.
/// - `transport` is our event loop without the downloader.
/// - `ours` is the downloader.
/// - `soak` is `ours`, and also prints the memory in use after every tenth of the downloads to standard error.
/// - `grouped` is a batch that makes a thumbnail of each image, with the standard limit per host.
@main
enum BenchFetch {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count > 5, let width = Int(arguments[2]), let count = Int(arguments[3]) else {
      return print("bench-fetch bare|transport|ours|soak|grouped WIDTH COUNT AUTHORITIES URL...")
    }
    let urls = (0..<count).map { arguments[5 + $0 % (arguments.count - 5)] }
    let (begin, cpu) = (ContinuousClock.now, usage().cpu)
    let (good, bytes) = run(arguments[1], urls, width: width, authorities: arguments[4])
    let (seconds, after) = (begin.duration(to: .now) / .seconds(1), usage())
    print(
      #"{"seconds":\#(seconds),"cpu":\#(after.cpu - cpu),"good":\#(good),"bytes":\#(bytes),"peak":\#(after.peak)}"#)
  }

  /// Returns the number of successful downloads and their bytes.
  private static func run(_ mode: String, _ urls: [String], width: Int, authorities: String) -> (Int, Int) {
    if mode == "bare" { return bare(urls, width: width, authorities: authorities) }
    var configuration = CurlTransport.Configuration()
    configuration.certificateAuthorities = authorities
    let transport = CurlTransport(configuration)
    return switch mode {
    case "transport": TransportBench(transport, width: width).run(urls)
    case "grouped": BatchBench(transport, width: width).run(urls)
    case "soak": DownloaderBench(transport, width: width, sample: urls.count / 10).run(urls)
    default: DownloaderBench(transport, width: width).run(urls)
    }
  }

  private static func bare(_ urls: [String], width: Int, authorities: String) -> (Int, Int) {
    let strings = urls.map { strdup($0) }
    defer { for string in strings { free(string) } }
    var bytes = 0
    let good = bare_loop(strings.map { UnsafePointer($0) }, urls.count, width, authorities, &bytes)
    return (good, bytes)
  }

  private static func usage() -> (cpu: Double, peak: Int) {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return (seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss << 10)
  }
}
