import Downloads
import Foundation
import Synchronization

/// Downloads structured garbage from `server.py`, with normal responses between it that must arrive:
/// fuzz-http RESPONSES PLAIN-PORT HTTP2-PORT PROXY-PORT
@main final class Client: Sendable {
  private let ports: [Int]
  private let direct: Downloader
  private let proxied: Downloader
  private let next = Atomic(0)
  /// Keeps the client until the end of the program: the leak checker would find its parts while they are freed.
  private static let running = Mutex<Client?>(nil)
  private let results = Mutex<[String: Int]>([:])

  static func main() async throws {
    let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
    guard numbers.count == 4 else { fatalError("fuzz-http RESPONSES PLAIN-PORT HTTP2-PORT PROXY-PORT") }
    let client = Client(ports: Array(numbers.dropFirst()))
    running.withLock { $0 = client }
    try await client.run(numbers[0])
  }

  init(ports: [Int]) {
    self.ports = ports
    direct = Self.downloader(proxies: .none)
    proxied = Self.downloader(proxies: ProxySettings(environment: ["https_proxy": "http://127.0.0.1:\(ports[2])"]))
  }

  private static func downloader(proxies: ProxySettings) -> Downloader {
    var configuration = Downloader.Configuration()
    (configuration.concurrency, configuration.perHost, configuration.maxHostFailures) = (64, 8, nil)
    configuration.retry = RetryPolicy(limit: 0)
    configuration.limits.firstByte = .seconds(5)
    configuration.limits.stallInterval = .seconds(5)
    configuration.limits.maxBytes = 1 << 20
    var transport = CurlTransport.Configuration()
    transport.proxies = proxies
    transport.insecureHosts = Set((1...32).map { "127.0.0.\($0)" })
    return Downloader(configuration, transport: CurlTransport(transport))
  }

  func run(_ count: Int) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<64 {
        group.addTask { [self] in
          while true {
            let number = next.add(1, ordering: .relaxed).oldValue
            guard number < count else { return }
            try await download(number)
          }
        }
      }
      try await group.waitForAll()
    }
    let sorted = results.withLock { $0 }.sorted { $0.value > $1.value }
    Self.print("\(count) responses: " + sorted.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
  }

  /// Downloads one response. There are many hosts, so that none runs out of ports while closed connections wait.
  private func download(_ number: Int) async throws {
    let host = "127.0.0.\(number % 32 + 1)"
    switch number % 10 {
    // A connection with garbage on it may harm the next response from its host, but not those from others.
    case 0, 1: try await downloadNormal(number, at: "127.0.1.\(number % 32 + 1)")
    case 2, 3: await record(number, "https://\(host):\(ports[1])/garbage/\(number)", direct)
    case 4: await record(number, "https://\(host):\(ports[0])/garbage/\(number)", proxied)
    default: await record(number, "http://\(host):\(ports[0])/garbage/\(number)", direct)
    }
  }

  private func record(_ number: Int, _ url: String, _ downloader: Downloader) async {
    let result: String
    do {
      _ = try await downloader.download(DownloadRequest(source: try SourceURL(url)))
      result = "ok"
    } catch {
      result = error.code.description
    }
    results.withLock { $0[result, default: 0] += 1 }
    if number % 50_000 == 49_999 { Self.print("\(number + 1) responses") }
  }

  /// Writes a line without a buffer: the leak checker ends the process before a buffer is written.
  private static func print(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  /// Enough time for a normal response on a machine that runs other programs as well.
  private static let patience = {
    var limits = TransferLimits()
    (limits.connect, limits.firstByte, limits.total) = (.seconds(300), .seconds(300), .seconds(300))
    limits.stallInterval = .seconds(300)
    return limits
  }()

  /// Downloads a response without faults, which must be unharmed by those before it.
  private func downloadNormal(_ number: Int, at host: String) async throws {
    let size = number % 5000 * 2 + 1
    let source = try SourceURL("http://\(host):\(ports[0])/normal/\(size)?\(number)")
    var request = DownloadRequest(source: source)
    request.limits = Self.patience
    let download = try await direct.download(request)
    let part = (0..<size % 256).map { UInt8($0 * 31 % 251) }
    let expected = Array(repeatElement(part, count: size / 256 + 1).joined())
    guard download.body == expected else { fatalError("Normal response \(number) has other bytes.") }
    results.withLock { $0["normal", default: 0] += 1 }
  }
}
