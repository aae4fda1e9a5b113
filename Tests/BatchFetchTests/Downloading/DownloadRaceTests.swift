import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import BatchFetch

/// Exactly one end for each caller, whatever races with what.
@Suite(.timeLimit(.minutes(10))) struct DownloadRaceTests {
  private let quick = ScriptedTransport { _, _ in .answer([1]) }

  @Test func `From many threads at once, callers of one source make one request`() async throws {
    let transport = ScriptedTransport { _, _ in [.hold] + .answer([7]) }
    let downloader = Downloader(.prompt, transport: transport)
    let (wanted, outcomes) = (try DownloadRequest("x"), Recorder<Outcome>())
    DispatchQueue.concurrentPerform(iterations: 100) { _ in downloader.download(wanted) { outcomes.record($0) } }
    await transport.exchanges.values(count: 1)[0].resume()
    #expect(await outcomes.values(count: 100).allSatisfy { $0.body == [7] })
    #expect(transport.requests.count == 1)
  }

  @Test(arguments: [FailureCode.tls, .connectionLost]) func `A failure is told to each caller once`(
    code: FailureCode
  ) async throws {
    let transport = ScriptedTransport { _, _ in [.hold, .fail(code)] }
    let downloader = Downloader(.prompt.with { $0.retry.limit = 0 }, transport: transport)
    let outcomes = Recorder<Outcome>()
    for _ in 0..<50 { downloader.download(try DownloadRequest("x")) { outcomes.record($0) } }
    await transport.exchanges.values(count: 1)[0].resume()
    await downloader.waitUntilFinished()
    #expect(outcomes.values.map { $0.failure?.code } == Array(repeating: code, count: 50))
  }

  @Test func `Joined while it completes, it tells everyone who joined`() async throws {
    let downloader = Downloader(.prompt, transport: quick)
    let (wanted, count) = (try DownloadRequest("x"), Counter())
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<500 { downloader.download(wanted) { if $0.body == [1] { count.next() } } }
    }
    await downloader.waitUntilFinished()
    #expect(count.value == 4000)
    #expect(downloader.runningCount == 0)
  }

  @Test func `Some of many callers leave, and the others are served`() async throws {
    let transport = ScriptedTransport { _, _ in [.hold] + .answer([1]) }
    let downloader = Downloader(.prompt, transport: transport)
    let wanted = try DownloadRequest("x")
    let callers = (0..<20).map { _ in downloader.start(wanted) }
    for caller in callers[..<7] { caller.token.cancel() }
    await transport.exchanges.values(count: 1)[0].resume()
    await downloader.waitUntilFinished()
    #expect(callers.map { $0.outcome.values.first?.failure == .cancelled } == (0..<20).map { $0 < 7 })
    #expect(callers.allSatisfy { $0.outcome.values.count == 1 })
  }

  @Test func `Cancelled before it starts, it makes no request and is told once`() async throws {
    let downloader = Downloader(.prompt, transport: quick)
    downloader.isSuspended = true
    let (token, outcome) = downloader.start(try DownloadRequest("x"))
    token.cancel()
    token.cancel()
    downloader.isSuspended = false
    await downloader.waitUntilFinished()
    #expect(outcome.values.map(\.failure) == [.cancelled])
    #expect(quick.requests.isEmpty && downloader.runningCount == 0)
  }

  @Test func `Cancelled after its end, it stays as it was`() async throws {
    let downloader = Downloader(.prompt, transport: quick)
    let (token, outcome) = downloader.start(try DownloadRequest("x"))
    _ = await outcome.only()
    token.cancel()
    token.pause()
    token.setPriority(.high)
    await downloader.waitUntilFinished()
    #expect(outcome.values.count == 1 && token.result?.body == [1])
  }

  @Test func `Cancelled and asked for again, many times, each gets its own end`() async throws {
    let downloader = Downloader(.prompt, transport: quick)
    for _ in 0..<300 {
      let (token, first) = downloader.start(try DownloadRequest("x"))
      token.cancel()
      let second = downloader.start(try DownloadRequest("x"))
      #expect(await second.outcome.only().body == [1])
      #expect(await first.values(count: 1).count == 1)
    }
    await downloader.waitUntilFinished()
    #expect(downloader.runningCount == 0)
  }

  @Test func `A completion may cancel others, and itself, and ask for the same again`() async throws {
    let downloader = Downloader(.prompt, transport: quick)
    let transport = ScriptedTransport { _, _ in [.hold] }
    let slow = Downloader(.prompt, transport: transport)
    let other = slow.start(try DownloadRequest("slow"))
    let (tokens, again) = (Recorder<DownloadToken>(), Recorder<Outcome>())
    let wanted = try DownloadRequest("x")
    tokens.record(
      downloader.download(wanted) { _ in
        other.token.cancel()
        tokens.values.first?.cancel()
        downloader.download(wanted) { again.record($0) }
      })
    #expect(await again.only().body == [1])
    #expect(await other.outcome.only().failure == .cancelled)
    #expect(downloader.runningCount == 0 && slow.runningCount == 0)
  }

  @Test func `Let go, a downloader still tells what runs`() async throws {
    let transport = ScriptedTransport { _, _ in [.hold] + .answer([1]) }
    let outcomes = Recorder<Outcome>()
    Downloader(.prompt, transport: transport).download(try DownloadRequest("x")) { outcomes.record($0) }
    await transport.exchanges.values(count: 1)[0].resume()
    #expect(await outcomes.only().body == [1])
  }
}
