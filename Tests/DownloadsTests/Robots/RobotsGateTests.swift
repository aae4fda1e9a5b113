import DownloadSupport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(20))) struct RobotsGateTests {
  private typealias Outcome = Result<Download, FetchFailure>

  /// A server whose responses the test sends.
  private final class Server: Sendable {
    let requests = Recorder<String>()
    private let completions = Mutex<[@Sendable (Outcome) -> Void]>([])

    var fetch: RobotsGate.Fetch {
      { url, _, _, completion in
        self.completions.withLock { $0.append(completion) }
        self.requests.record(url.requestString)
      }
    }

    /// Ends the request with this number, from 0.
    func end(_ outcome: Outcome, request number: Int = 0) { completions.withLock { $0[number] }(outcome) }
  }

  private let server = Server()
  private let clock = ManualClock()
  private let verdicts = Recorder<String>()
  private let blocked = "blocked_robots: robots.txt of a.example does not allow this URL."
  private let file = Outcome.success(.robots("User-agent: thumbs\nDisallow: /private\n\nUser-agent: *\nDisallow: /"))

  private func gate(_ fetch: RobotsGate.Fetch? = nil) -> RobotsGate {
    let start = clock.now
    return RobotsGate(now: { [clock] in start.duration(to: clock.now) }, fetch: fetch ?? server.fetch)
  }

  private func check(_ url: String, _ gate: RobotsGate) throws {
    gate.check(try SourceURL(url), userAgent: "thumbs/1") { [verdicts] in
      verdicts.record($0.map { "\($0.code): \($0.message)" } ?? "allowed")
    }
  }

  @Test func `One fetch serves all URLs of an origin, and each gets one verdict`() throws {
    let gate = gate()
    for path in ["1", "private/2", "3"] { try check("https://user:secret@A.example/\(path)", gate) }
    #expect(verdicts.values.isEmpty && gate.waiterCount == 3)
    #expect(server.requests.values == ["https://a.example/robots.txt"])

    server.end(file)
    #expect(verdicts.values == ["allowed", blocked, "allowed"])

    try check("https://a.example/private", gate)
    try check("https://a.example/public", gate)
    #expect(verdicts.values.suffix(2) == [blocked, "allowed"])
    #expect(server.requests.values.count == 1 && gate.waiterCount == 0)
  }

  @Test(arguments: [
    "http://a.example/", "https://a.example:8443/", "https://b.example/", "https://www.a.example/", "https://[::1]:81/",
  ])
  func `Another scheme, host or port has its own robots.txt`(origin: String) throws {
    let gate = gate()
    try check("https://a.example/private", gate)
    server.end(file)

    try check(origin + "x/y?z", gate)
    #expect(server.requests.values == ["https://a.example/robots.txt", origin + "robots.txt"])
  }

  @Test func `Local files are allowed without a fetch`() throws {
    try check("file:///private", gate())
    #expect(verdicts.values == ["allowed"] && server.requests.values.isEmpty)
  }

  @Test func `The URL of a robots.txt is allowed without a fetch`() throws {
    let gate = gate()
    try check("https://a.example/robots.txt", gate)
    #expect(verdicts.values == ["allowed"] && server.requests.values.isEmpty)

    for path in ["robots.txt?a", "a/robots.txt", "robots.txt/"] { try check("https://a.example/\(path)", gate) }
    server.end(.success(.robots("User-agent: *\nDisallow: /")))
    #expect(verdicts.values == ["allowed", blocked, blocked, blocked])
  }

  @Test func `A failed fetch fails all URLs of the next minute`() throws {
    let (gate, message) = (gate(), "robots.txt of a.example could not be fetched: The connection was refused.")
    for _ in 0..<3 { try check("https://a.example/1", gate) }
    server.end(.failure(FetchFailure(.connectFailed, "The connection was refused.", httpStatus: 200, attempts: 3)))
    clock.advance(by: .seconds(59))
    try check("https://a.example/2", gate)
    #expect(verdicts.values == Array(repeating: "connect_failed: " + message, count: 4))
    #expect(server.requests.values.count == 1)

    clock.advance(by: .seconds(1))
    try check("https://a.example/private", gate)
    #expect(server.requests.values.count == 2)
    server.end(file, request: 1)
    #expect(verdicts.values.last == blocked)
  }

  @Test(arguments: [FailureCode.cancelled, .hostUnavailable])
  func `The file is fetched again after a fetch that was given up before its request`(code: FailureCode) throws {
    let gate = gate()
    try check("https://a.example/1", gate)
    server.end(.failure(FetchFailure(code, "")))
    try check("https://a.example/private", gate)
    #expect(server.requests.values.count == 2)
    server.end(file, request: 1)
    #expect(verdicts.values.last == blocked)
  }

  @Test func `The failure of a fetch has no response and no attempts of the image`() throws {
    let gate = gate { _, _, _, completion in
      completion(.failure(FetchFailure(.timeoutTotal, "Too slow.", httpStatus: 200, attempts: 3)))
    }
    let failures = Recorder<FetchFailure?>()
    gate.check(try SourceURL("https://a.example/"), userAgent: nil) { failures.record($0) }
    #expect(
      failures.values == [FetchFailure(.timeoutTotal, "robots.txt of a.example could not be fetched: Too slow.")])
  }

  @Test func `The failure of a fetch keeps the time at which to try again`() throws {
    var failure = FetchFailure(.hostUnavailable, "Later.")
    failure.retryAt = Date(timeIntervalSince1970: 1_800_000_000)
    let (fetched, failures) = (failure, Recorder<FetchFailure?>())
    gate { $3(.failure(fetched)) }.check(try SourceURL("https://a.example/"), userAgent: nil) { failures.record($0) }
    #expect(failures.values.first??.retryAt == failure.retryAt)
  }

  @Test func `A canceled fetch cancels the URLs that wait`() throws {
    let failures = Recorder<FetchFailure?>()
    gate { $3(.failure(.cancelled)) }.check(try SourceURL("https://a.example/"), userAgent: nil) { failures.record($0) }
    #expect(failures.values == [.cancelled])
  }

  @Test func `A second end of a fetch is ignored`() throws {
    let gate = gate()
    try check("https://a.example/private", gate)
    server.end(file)
    server.end(.failure(.cancelled))
    server.end(.success(.robots("")))
    try check("https://a.example/private", gate)
    #expect(verdicts.values == [blocked, blocked])
  }

  @Test func `Rules are fetched again after one day`() throws {
    let gate = gate { [server] url, _, _, completion in
      server.requests.record(url.description)
      completion(.success(.robots("")))
    }
    try check("https://a.example/1", gate)
    clock.advance(by: .seconds(86_399))
    try check("https://a.example/2", gate)
    #expect(server.requests.values.count == 1)

    clock.advance(by: .seconds(1))
    try check("https://a.example/3", gate)
    #expect(server.requests.values.count == 2)
    #expect(verdicts.values == ["allowed", "allowed", "allowed"])
  }

  /// A file with `count` rules, each of which has to be searched for in a whole path.
  private static func many(_ count: Int) -> Outcome {
    .success(.robots("User-agent: *\n" + String(repeating: "Disallow: /*b*c\n", count: count)))
  }

  @Test(arguments: [
    ("https://b.example/", 10, true), ("https://b.example/" + long, 10, true),
    ("https://b.example/" + long, 40, false), ("https://b.example/" + long.prefix(1000), 300, false),
  ])
  func `Rules that take long are applied on a thread that no other host needs`(
    url: String, rules: Int, isQuick: Bool
  ) async throws {
    let gate = gate { _, _, _, completion in completion(Self.many(rules)) }
    let threads = Recorder<pthread_t>()
    let caller = pthread_self()
    gate.check(try SourceURL(url), userAgent: nil) { _ in threads.record(pthread_self()) }
    gate.check(try SourceURL(url), userAgent: nil) { _ in threads.record(pthread_self()) }

    // No suspension in between: the two verdicts of quick rules are given before the calls return.
    #expect(!isQuick || threads.values == [caller, caller])
    #expect(await threads.values(count: 2).allSatisfy { ($0 == caller) == isQuick })
  }

  private static let long = String(repeating: "a", count: 8000)

  @Test func `A URL to which too many rules would have to be applied is not allowed`() async throws {
    let gate = gate { _, _, _, completion in completion(Self.many(1100)) }
    try check("https://a.example/" + Self.long, gate)
    try check("https://a.example/" + Self.long, gate)
    try check("https://a.example/a", gate)

    let text = "blocked_robots: robots.txt of a.example has too many rules to apply them to a URL of this length."
    #expect(await verdicts.values(count: 3).sorted() == ["allowed", text, text])
  }

  @Test func `A verdict may check another URL`() throws {
    let (gate, source) = (gate(), try SourceURL("https://a.example/private"))
    gate.check(source, userAgent: nil) { [verdicts] _ in
      gate.check(source, userAgent: nil) { verdicts.record($0?.message ?? "allowed") }
    }
    server.end(file)
    #expect(verdicts.values == ["robots.txt of a.example does not allow this URL."])
  }

  @Test func `URLs that arrive while a fetch ends get one verdict each`() async throws {
    let (count, server, verdicts) = (300, server, verdicts)
    let sources = try (0..<count).map { try SourceURL("https://\($0).example/private") }
    let gate = gate { _, _, _, completion in
      server.requests.record("")
      completion(.success(.robots("User-agent: *\nDisallow: /private")))
    }
    await race(count) { number in
      gate.check(sources[number], userAgent: nil) { verdicts.record($0?.code.description ?? "allowed") }
    } against: { number in
      gate.check(sources[number], userAgent: nil) { verdicts.record($0?.code.description ?? "allowed") }
    }
    #expect(verdicts.values == Array(repeating: "blocked_robots", count: 2 * count))
    #expect(server.requests.values.count == count && gate.waiterCount == 0)
  }
}

extension RobotsGate {
  /// Checks a URL by the usual rule for IP addresses.
  fileprivate func check(_ source: SourceURL, userAgent: String?, _ verdict: @escaping Verdict) {
    check(source, userAgent: userAgent, addresses: .noLinkLocal, verdict)
  }
}
