import DownloadSupport
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

/// Each caller gets exactly one end, however joins, cancels and ends race.
@Suite(.timeLimit(.minutes(10))) struct DownloadRaceTests {
  private let quick = ScriptedTransport { _, _ in .response([1]) }

  @Test func `Callers of one source on many threads make one request`() async throws {
    let transport = ScriptedTransport { _, _ in [.hold] + .response([7]) }
    let downloader = Downloader(.prompt, transport: transport)
    let (wanted, outcomes) = (try DownloadRequest("x"), Recorder<Outcome>())

    DispatchQueue.concurrentPerform(iterations: 100) { _ in downloader.download(wanted) { outcomes.record($0) } }
    await transport.exchanges.values(count: 1)[0].resume()

    #expect(await outcomes.values(count: 100).allSatisfy { $0.body == [7] })
    #expect(transport.requests.count == 1)
  }

  @Test(arguments: [FailureCode.tls, .connectionLost]) func `Each caller gets the failure once`(
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

  @Test func `Callers that join a download while it completes all get an end`() async throws {
    let downloader = Downloader(.prompt, transport: quick)
    let (wanted, count) = (try DownloadRequest("x"), Counter())

    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<500 { downloader.download(wanted) { if $0.body == [1] { count.next() } } }
    }
    await downloader.waitUntilFinished()

    #expect(count.value == 4000)
    #expect(downloader.runningCount == 0)
  }

  @Test func `Callers that stay are served when others leave`() async throws {
    let transport = ScriptedTransport { _, _ in [.hold] + .response([1]) }
    let downloader = Downloader(.prompt, transport: transport)
    let wanted = try DownloadRequest("x")
    let callers = (0..<20).map { _ in downloader.start(wanted) }

    for caller in callers[..<7] { caller.token.cancel() }
    await transport.exchanges.values(count: 1)[0].resume()
    await downloader.waitUntilFinished()

    #expect(callers.map { $0.outcome.values.first?.failure == .cancelled } == (0..<20).map { $0 < 7 })
    #expect(callers.allSatisfy { $0.outcome.values.count == 1 })
  }

  @Test func `A download canceled before it starts makes no request and ends once`() async throws {
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

  @Test func `A cancel, a pause or a new priority after the end changes nothing`() async throws {
    let downloader = Downloader(.prompt, transport: quick)
    let (token, outcome) = downloader.start(try DownloadRequest("x"))

    _ = await outcome.only()
    token.cancel()
    token.pause()
    token.setPriority(.high)
    await downloader.waitUntilFinished()

    #expect(outcome.values.count == 1 && token.result?.body == [1])
  }

  @Test func `Each download ends by itself when a source is canceled and requested again many times`() async throws {
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

  @Test func `A completion may cancel other downloads and its own, and request the same source again`() async throws {
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

  @Test func `A downloader that nobody keeps still finishes what runs`() async throws {
    let transport = ScriptedTransport { _, _ in [.hold] + .response([1]) }
    let outcomes = Recorder<Outcome>()

    Downloader(.prompt, transport: transport).download(try DownloadRequest("x")) { outcomes.record($0) }
    await transport.exchanges.values(count: 1)[0].resume()

    #expect(await outcomes.only().body == [1])
  }
}
