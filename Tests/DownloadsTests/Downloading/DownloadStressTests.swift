import DownloadSupport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import Downloads

/// Ten thousand callers of a thousand sources join, leave, pause, resume, wait for one another and change priorities
/// at random, over a transport that fails at random.
@Suite(.timeLimit(.minutes(10))) struct DownloadStressTests {
  private static let sourceCount = 1000
  private static let callerCount = 10_000

  /// One caller, which checks that it gets consistent progress and exactly one end.
  private final class Caller: Sendable {
    private let state = Mutex((ends: 0, isWrong: false, last: nil as DownloadProgress?))

    func receive(_ progress: DownloadProgress) {
      state.withLock { state in
        let goesOn = state.last.map { ($0.attempt, $0.received) <= (progress.attempt, progress.received) } ?? true
        if state.ends > 0 || !goesOn { state.isWrong = true }
        state.last = progress
      }
    }

    func receiveEnd(_ outcome: Outcome, expecting body: [UInt8]) {
      state.withLock { state in
        state.ends += 1
        guard case .success(let download) = outcome else { return }
        if download.body != body || state.last.map({ $0.received != body.count || $0.total != body.count }) ?? false {
          state.isWrong = true
        }
      }
    }

    var isSound: Bool { state.withLock { $0.ends == 1 && !$0.isWrong } }
  }

  private static func body(of source: String) -> [UInt8] {
    let seed = source.utf8.reduce(UInt8(1)) { $0 &* 31 &+ $1 }
    return (0..<64).map { seed &+ UInt8($0) }
  }

  /// Half of the sources can be continued. A third of all exchanges fail.
  private static func script(_ request: TransferRequest, _ number: Int) -> [ScriptedTransport.Step] {
    let (source, whole) = (request.source.description, body(of: request.source.description))
    let first = request.firstByte ?? 0
    let head: ScriptedTransport.Step =
      first == 0
      ? .head(200, source.utf8.count % 2 == 0 ? [.eTag: "\"1\"", .contentLength: "64"] : [:])
      : .head(206, [.contentRange: "bytes \(first)-63/64"])
    switch number % 9 {
    case 0: return [.fail(.connectFailed)]
    case 1: return [head, .bytes([whole[first]]), .fail(.connectionLost)]
    case 2: return .response([], status: 503)
    case 3 where first > 0: return .response([], status: 416)
    default: return [head] + whole[first...].map { .bytes([$0]) } + [.end]
    }
  }

  /// Does something random with one of the last tokens.
  private static func meddle(
    _ tokens: [DownloadToken], using generator: inout SeededGenerator
  ) {
    guard let token = tokens.suffix(50).randomElement(using: &generator) else { return }
    switch Int.random(in: 0..<10, using: &generator) {
    case 0, 1: token.cancel()
    case 2, 3: token.pause()
    case 4, 5, 6: token.resume()
    default: token.setPriority(Priority.allCases.randomElement(using: &generator) ?? .normal)
    }
  }

  private static func run(_ thread: Int, _ downloader: Downloader, _ callers: ArraySlice<Caller>) throws {
    var generator = SeededGenerator(seed: UInt64(thread))
    var tokens: [DownloadToken] = []
    for caller in callers {
      let name = Int.random(in: 0..<sourceCount, using: &generator)
      let request = try DownloadRequest("\(name)", host: "\(name % 7).test")
      let body = body(of: request.source.description)
      let isPatient = Int.random(in: 0..<10, using: &generator) == 0
      let progress: DownloadProgress.Handler = { caller.receive($0) }
      let token = downloader.download(
        request, after: isPatient ? Array(tokens.suffix(2)) : [],
        progress: Bool.random(using: &generator) ? progress : nil
      ) { outcome in
        caller.receiveEnd(outcome, expecting: body)
      }
      tokens.append(token)
      meddle(tokens, using: &generator)
    }
    for token in tokens { token.resume() }
  }

  @Test func `Each caller gets consistent progress and one end, and nothing is left behind`() async throws {
    let transport = ScriptedTransport(Self.script)
    let callers = (0..<Self.callerCount).map { _ in Caller() }
    weak var released: Downloader?

    await {
      let configuration = Downloader.Configuration.prompt.with {
        $0.retry = RetryPolicy(limit: 50, base: .zero, cap: .zero)
      }
      let downloader = Downloader(configuration, transport: transport)
      released = downloader
      let failures = Recorder<any Error>()
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        let share = callers.count / 4
        do {
          try Self.run(thread, downloader, callers[thread * share..<(thread + 1) * share])
        } catch {
          failures.record(error)
        }
      }
      await downloader.waitUntilFinished()
      #expect(failures.values.isEmpty)
      #expect(downloader.runningCount == 0)
      await eventually { downloader.hostCount == 0 }
    }()
    let unsound = callers.count { !$0.isSound }

    #expect(unsound == 0)
    #expect(transport.load.peak <= 16)

    await eventually { released == nil }
  }
}
