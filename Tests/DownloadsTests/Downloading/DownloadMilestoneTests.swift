import DownloadSupport
import TestSupport
import Testing

@testable import Downloads

/// Downloads that wait for milestones.
@Suite(.timeLimit(.minutes(20))) struct DownloadMilestoneTests {
  private let transport = ScriptedTransport { request, _ in
    request.source.lastPathComponent == "held" ? [.hold] : .response([1])
  }

  private func downloader() -> Downloader { Downloader(.prompt, transport: transport) }

  @Test func `A download begins once all milestones of its request are reached`() async throws {
    let downloader = downloader()
    let milestones = [Milestone(), Milestone()]
    var late = try DownloadRequest("late")
    late.after = milestones

    let waiting = downloader.start(late)
    milestones[1].reach()
    _ = await downloader.start(try DownloadRequest("early")).outcome.only()
    #expect(transport.paths == ["early"])

    milestones[0].reach()
    #expect(await waiting.outcome.only().body == [1])
    #expect(transport.paths == ["early", "late"])
  }

  @Test func `A released milestone holds up no download`() async throws {
    let downloader = downloader()
    var request = try DownloadRequest("late")
    request.after = [Milestone()]

    let waiting = downloader.start(request)
    request.after = []

    #expect(await waiting.outcome.only().body == [1])
  }

  @Test func `A deferred request waits for its own milestones too`() async throws {
    let downloader = downloader()
    let (milestone, requests, outcome) = (Milestone(), Recorder<Bool>(), Recorder<Outcome>())
    let first = downloader.start(try DownloadRequest("first"))

    downloader.download(after: [first.token]) { _ throws(FetchFailure) in
      var request = DownloadRequest(source: try SourceURL("http://a.test/late"))
      request.after = [milestone]
      requests.record(true)
      return request
    } completion: {
      outcome.record($0)
    }
    _ = await requests.values(count: 1)
    _ = await downloader.start(try DownloadRequest("early")).outcome.only()
    #expect(transport.paths == ["first", "early"])

    milestone.reach()
    #expect(await outcome.only().body == [1])
    #expect(transport.paths == ["first", "early", "late"])
  }

  @Test func `A token offers a milestone that is reached after its completion has returned`() async throws {
    let downloader = downloader()
    let (gate, events) = (Gate(), Recorder<String>())

    let token = downloader.download(try DownloadRequest("first")) { _ in
      gate.wait()
      events.record("first")
    }
    var second = try DownloadRequest("second")
    second.after = [token.finished]
    downloader.download(second) { _ in events.record("second") }
    gate.open()

    #expect(await events.values(count: 2) == ["first", "second"])
    #expect(transport.paths == ["first", "second"])
  }

  @Test func `The request of a canceled download is not made, even while its completion is running`() async throws {
    let downloader = downloader()
    let (gate, events) = (Gate(), Recorder<String>())
    let held = downloader.start(try DownloadRequest("held"))
    _ = await transport.exchanges.values(count: 1)

    let waiting = downloader.download(after: [held.token]) { _ throws(FetchFailure) in
      events.record("request")
      return DownloadRequest(source: try SourceURL("http://a.test/late"))
    } completion: { _ in
      events.record("completion")
      gate.wait()
    }
    waiting.cancel()
    _ = await events.values(count: 1)
    held.token.cancel()
    _ = await held.outcome.only()
    // Everything that waited for the held download has begun by now.
    _ = await downloader.start(try DownloadRequest("other"), after: [held.token]).outcome.only()
    gate.open()

    await downloader.waitUntilFinished()
    #expect(events.values == ["completion"])
  }
}
