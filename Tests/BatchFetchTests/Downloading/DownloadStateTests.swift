import HTTPTypes
import Testing

@testable import BatchFetch

@Suite struct DownloadStateTests {
  private enum Event {
    case begin
    case fail(FailureCode)
    case succeed
    case breakOff(after: Int)
    case refuseRange
    case stop
    case resume
    case end
  }

  /// What each event came to, in short.
  private func outcomes(of events: [Event], retries: Int = 1) -> [String] {
    var state = DownloadState()
    let policy = RetryPolicy(limit: retries)
    func ended(_ ending: DownloadState.Ending) -> String {
      "\(state.endAttempt(ending, retryAfter: .seconds(2), policy: policy, jitter: 0))"
    }
    return events.map { event in
      switch event {
      case .begin:
        guard let attempt = state.beginAttempt() else { return "refused" }
        return "attempt \(attempt.number)" + (attempt.partial.map { " from \($0.bytes.count)" } ?? "")
      case .fail(let code): return ended(.failed(code, kept: nil))
      case .succeed: return ended(.good)
      case .breakOff(let count): return ended(.failed(.connectionLost, kept: .sample(count: count)))
      case .refuseRange: return ended(.rangeRefused)
      case .stop: return "\(state.stop())"
      case .resume:
        state = state.resumed()
        return "resumed"
      case .end: return state.end() ? "first end" : "ended before"
      }
    }
  }

  @Test func `A good answer ends the download`() {
    #expect(outcomes(of: [.begin, .succeed, .end]) == ["attempt 1", "conclude", "first end"])
  }

  @Test func `A passing fault is tried again, and then given up`() {
    let outcomes = outcomes(of: [.begin, .fail(.stalled), .begin, .fail(.stalled)])
    #expect(outcomes == ["attempt 1", "retry(after: 2.0 seconds)", "attempt 2", "conclude"])
  }

  @Test func `What would fail again is given up at once`() {
    #expect(outcomes(of: [.begin, .fail(.http(404))]) == ["attempt 1", "conclude"])
  }

  @Test func `It ends once`() {
    #expect(outcomes(of: [.end, .end]) == ["first end", "ended before"])
  }

  @Test func `After the end nothing begins, and attempts that come back late are ignored`() {
    let outcomes = outcomes(of: [.begin, .end, .succeed, .fail(.stalled), .begin, .stop])
    #expect(outcomes == ["attempt 1", "first end", "ignore", "ignore", "refused", "ignore"])
  }

  @Test func `No two attempts run at a time`() {
    #expect(outcomes(of: [.begin, .begin]) == ["attempt 1", "refused"])
  }

  @Test func `Each attempt takes what the one before has kept, and no later one takes it again`() {
    let outcomes = outcomes(
      of: [.begin, .breakOff(after: 3), .begin, .breakOff(after: 7), .begin, .fail(.stalled), .begin], retries: 9)
    #expect(
      outcomes.filter { $0.hasPrefix("attempt") } == ["attempt 1", "attempt 2 from 3", "attempt 3 from 7", "attempt 4"])
  }

  @Test func `A refused range is followed by an attempt at once, which counts as no retry`() {
    let outcomes = outcomes(of: [.begin, .breakOff(after: 3), .begin, .refuseRange, .begin, .fail(.stalled)])
    #expect(outcomes.suffix(3) == ["retry(after: 0.0 seconds)", "attempt 3", "conclude"])
  }

  @Test func `A pause stops the running attempt, and the next one goes on from there`() {
    let outcomes = outcomes(of: [.begin, .stop, .breakOff(after: 5), .begin, .resume, .begin])
    #expect(outcomes == ["attempt 1", "cancelAttempt", "rest", "refused", "resumed", "attempt 2 from 5"])
  }

  @Test func `An attempt that a pause has cancelled is no failure`() {
    let outcomes = outcomes(of: [.begin, .stop, .fail(.cancelled), .resume, .begin, .fail(.stalled), .begin])
    #expect(outcomes.suffix(2) == ["retry(after: 2.0 seconds)", "attempt 3"])
  }

  @Test func `A pause leaves alone what has come to its end`() {
    #expect(outcomes(of: [.begin, .stop, .succeed, .end]) == ["attempt 1", "cancelAttempt", "conclude", "first end"])
    #expect(outcomes(of: [.begin, .stop, .fail(.http(404))]).last == "conclude")
    #expect(outcomes(of: [.begin, .stop, .fail(.stalled)], retries: 0).last == "conclude")
  }

  @Test func `Between attempts, and before the first one, a pause has nothing to wait for`() {
    #expect(outcomes(of: [.stop, .begin]) == ["rest", "refused"])
    #expect(outcomes(of: [.begin, .fail(.stalled), .stop, .stop]).suffix(2) == ["rest", "ignore"])
  }
}

extension PartialDownload {
  /// The first bytes of a body of a hundred.
  static func sample(
    count: Int, fields: HTTPFields = [.eTag: "\"1\"", .contentLength: "100"], finalURL: String? = nil
  ) -> PartialDownload? {
    PartialDownload(
      head: TransferHead(response: HTTPResponse(status: .ok, headerFields: fields), finalURL: finalURL),
      bytes: Array((0..<count).map { UInt8(truncatingIfNeeded: $0) }))
  }
}
