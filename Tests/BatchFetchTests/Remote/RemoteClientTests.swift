import DownloadSupport
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch

@Suite(.timeLimit(.minutes(10))) struct RemoteClientTests {
  /// A client over a scripted server, with a clock that the test moves.
  private final class Bench: Sendable {
    let transport: ScriptedTransport
    let client: RemoteClient
    let results = Recorder<RemoteResult<[UInt8]>>()
    private let time: Clock

    private final class Clock: Sendable {
      let now = Mutex(Duration.zero)
    }

    convenience init(_ steps: [ScriptedTransport.Step]) throws { try self.init { _ in steps } }

    init(_ steps: @escaping @Sendable (TransferRequest) -> [ScriptedTransport.Step]) throws {
      transport = ScriptedTransport { request, _ in steps(request) }
      let time = Clock()
      self.time = time
      client = RemoteClient(
        try RemoteCache("http://cache.example", environment: [:]), transport: transport,
        now: { time.now.withLock { $0 } })
    }

    func advance(by duration: Duration) { time.now.withLock { $0 += duration } }

    func get(_ name: String, _ priority: Priority = .normal, maxBytes: Int = 1000) -> WorkHandle {
      client.get(name, maxBytes: maxBytes, priority) {
        $0
      } completion: { [results] in
        results.record($0)
      }
    }

    /// Reads one object from a server that takes `duration`.
    func read(taking duration: Duration) async -> RemoteResult<[UInt8]>? {
      let count = results.values.count
      let started = transport.exchanges.values.count
      _ = get("s/0")
      if let exchange = await transport.exchanges.values(count: started + 1).last {
        await exchange.played()
        advance(by: duration)
        exchange.resume()
      }
      return await results.values(count: count + 1).last
    }
  }

  private static let missing: [ScriptedTransport.Step] = [.hold, .head(404, [:]), .end]

  @Test func `A server that takes more than half of the timeout five times in a row is skipped for thirty seconds`()
    async throws
  {
    let bench = try Bench(Self.missing)
    for _ in 0..<5 { #expect(await bench.read(taking: .milliseconds(501))?.isMissing == true) }
    _ = bench.get("s/0")
    #expect(await bench.results.values(count: 6).last?.problem == .skipped)

    bench.advance(by: .seconds(29))
    _ = bench.get("s/0")
    #expect(await bench.results.values(count: 7).last?.problem == .skipped)
    bench.advance(by: .seconds(1))
    for _ in 0..<7 { #expect(await bench.read(taking: .milliseconds(499))?.isMissing == true) }
    #expect(bench.transport.exchanges.values.count == 12)
  }

  @Test func `At most sixteen reads are sent at once, and those that wait follow by priority`() async throws {
    let bench = try Bench([.hold, .head(200, [:]), .bytes([1]), .end])
    for number in 0..<16 { _ = bench.get("s/\(number)") }
    let low = bench.get("s/low", .low)
    _ = bench.get("s/normal")
    let raised = bench.get("s/raised", .low)
    raised.setPriority(.high)
    _ = await bench.transport.exchanges.values(count: 16)
    #expect(bench.transport.load.peak == 16)

    low.cancel()
    #expect(await bench.results.values(count: 1).first?.problem == .cancelled)
    // One at a time: two threads that end exchanges may start the next two in either order.
    for (number, exchange) in bench.transport.exchanges.values.prefix(2).enumerated() {
      await exchange.played()
      exchange.resume()
      _ = await bench.transport.exchanges.values(count: 17 + number)
    }
    let all = await bench.transport.exchanges.values(count: 18)
    for exchange in all[2...] { exchange.resume() }
    #expect(
      all[16...].map(\.request.source.description) == ["raised", "normal"].map { "http://cache.example/s/\($0)" })
  }

  @Test func `A read that has waited for more than half of the timeout is not sent`() async throws {
    let bench = try Bench([.hold, .head(404, [:]), .end])
    for number in 0..<16 { _ = bench.get("s/\(number)") }
    _ = bench.get("s/early")
    bench.advance(by: .milliseconds(10))
    _ = bench.get("s/late")
    let begun = await bench.transport.exchanges.values(count: 16)
    for exchange in begun { await exchange.played() }

    bench.advance(by: .milliseconds(495))
    begun[0].resume()
    let all = await bench.transport.exchanges.values(count: 17)
    #expect(all[16].request.source.description == "http://cache.example/s/late")
    #expect(await bench.results.values(count: 2).map(\.problem).contains(.skipped))
  }

  @Test func `Lookups that cost more than the timeout open the breaker, and none is lost before`() async throws {
    let bench = try Bench([.head(404, [:]), .end])
    for (count, problem) in [(1, RemoteProblem?.none), (2, .skipped)] {
      bench.client.looked(for: .milliseconds(1020), isHit: false, among: 2)
      _ = bench.get("s/0")
      #expect(await bench.results.values(count: count).last?.problem == problem)
    }
  }

  @Test func `When lookups have cost too much, reads that wait are not sent, even if none that runs ends`() async throws
  {
    let bench = try Bench([.hold])
    for number in 0..<17 { _ = bench.get("s/\(number)") }
    bench.client.looked(for: .milliseconds(1011), isHit: false, among: 1)
    #expect(await bench.results.values(count: 1).first?.problem == .skipped)
  }

  @Test func `Reads take no more than sixteen mebibytes at once, whether their length is declared or not`()
    async throws
  {
    let size = 6 << 20
    for fields in [HTTPFields(), [.contentLength: "\(size)"]] {
      let bytes = [UInt8](repeating: 1, count: size)
      let bench = try Bench { request in
        let isHeld = !request.source.description.hasSuffix("last")
        return [.head(200, fields), .bytes(bytes)] + (isHeld ? [.hold] : []) + [.end]
      }
      for number in 0..<2 { _ = bench.get("t/\(number)", maxBytes: 8 << 20) }
      let begun = await bench.transport.exchanges.values(count: 2)
      for exchange in begun { await exchange.played() }
      _ = bench.get("t/last", maxBytes: 8 << 20)
      #expect(await bench.results.values(count: 1).first?.problem == .skipped)

      for exchange in begun { exchange.resume() }
      #expect(await bench.results.values(count: 3).allSatisfy { $0.problem == nil || $0.problem == .skipped })
      for count in 4..<12 {
        _ = bench.get("t/last", maxBytes: 8 << 20)
        #expect(await bench.results.values(count: count).last?.problem == nil)
      }
    }
  }

  @Test func `An unusable object does not count as a failure of the server`() async throws {
    let bench = try Bench([.head(200, [:]), .bytes([1]), .end])
    let results = Recorder<RemoteResult<Int>>()
    for count in 1..<30 {
      _ = bench.client.get("s/0", maxBytes: 9, .normal) { _ in
        nil
      } completion: {
        results.record($0)
      }
      guard case .failed(.unusable)? = await results.values(count: count).last else {
        Issue.record("The object was not read.")
        return
      }
    }
  }

  @Test func `A canceled read ends as canceled and does not count as a failure`() async throws {
    let bench = try Bench([.hold])
    for number in 1...10 {
      let handle = bench.get("s/0")
      _ = await bench.transport.exchanges.values(count: number)
      handle.cancel()
      #expect(await bench.results.values(count: number).last?.problem == .cancelled)
    }
  }

  @Test(arguments: [
    (ScriptedTransport.Step.fail(.connectFailed), false), (.fail(.timeoutFirstByte), true),
    (.fail(.timeoutTotal), true),
    (.fail(.stalled), true), (.fail(.timeoutConnect), true), (.fail(.connectionLost), false), (.fail(.tls), false),
    (.head(500, [:]), false), (.head(302, [.location: "/"]), false), (.head(204, [:]), false),
  ])
  func `Timeouts and other failures are told apart`(step: ScriptedTransport.Step, isTimeout: Bool) async throws {
    let bench = try Bench([step, .end])
    _ = bench.get("s/0")
    switch await bench.results.values(count: 1).first?.problem {
    case .timeout: #expect(isTimeout)
    case .error: #expect(!isTimeout)
    case let other: Issue.record("unexpected: \(String(describing: other))")
    }
  }

  @Test(arguments: [(200, true), (201, true), (204, true), (412, true), (409, false), (404, false), (500, false)])
  func `An object that the server has already is written`(status: Int, isWritten: Bool) async throws {
    let bench = try Bench([.head(status, [:]), .end])
    let problems = Recorder<RemoteProblem?>()
    for condition in [RemoteObject.Condition.absent, .always] {
      _ = bench.client.put(RemoteObject(name: "s/0", bytes: [1], condition: condition)) { problems.record($0) }
      let isConflict = [409, 412].contains(status)
      let count = condition == .absent ? 1 : 2
      let problem = await problems.values(count: count).last ?? nil
      #expect((problem == nil) == (isWritten && (condition == .absent || !isConflict)))
    }
    let requests = bench.transport.requests
    #expect(requests.map { $0.headerFields[.ifNoneMatch] } == ["*", nil] && requests.allSatisfy { $0.upload == [1] })
  }
}

extension RemoteResult {
  fileprivate var isMissing: Bool { if case .missing = self { true } else { false } }
  fileprivate var problem: RemoteProblem? { if case .failed(let problem) = self { problem } else { nil } }
}
