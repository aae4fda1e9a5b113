import Testing

@testable import BatchFetch

@Suite struct DownloadStateTests {
  private enum Event {
    case begin
    case fail(FailureCode)
    case succeed
    case end
  }

  /// What each event came to, in short.
  private func outcomes(of events: [Event], retries: Int = 1) -> [String] {
    var state = DownloadState()
    let policy = RetryPolicy(limit: retries)
    return events.map { event in
      switch event {
      case .begin: state.beginAttempt() ? "attempt \(state.attempts)" : "refused"
      case .fail(let code): "\(state.endAttempt(code, retryAfter: .seconds(2), policy: policy, jitter: 0))"
      case .succeed: "\(state.endAttempt(nil, retryAfter: nil, policy: policy, jitter: 0))"
      case .end: state.end() ? "first end" : "ended before"
      }
    }
  }

  @Test func `A good answer ends the download`() {
    #expect(outcomes(of: [.begin, .succeed, .end]) == ["attempt 1", "conclude", "first end"])
  }

  @Test func `A passing fault is tried again, and then given up`() {
    let outcomes = outcomes(of: [.begin, .fail(.stalled), .begin, .fail(.stalled)])
    #expect(outcomes == ["attempt 1", "pause(2.0 seconds)", "attempt 2", "conclude"])
  }

  @Test func `What would fail again is given up at once`() {
    #expect(outcomes(of: [.begin, .fail(.http(404))]) == ["attempt 1", "conclude"])
  }

  @Test func `It ends once`() {
    #expect(outcomes(of: [.end, .end]) == ["first end", "ended before"])
  }

  @Test func `After the end nothing begins, and attempts that come back late are ignored`() {
    let outcomes = outcomes(of: [.begin, .end, .succeed, .fail(.stalled), .begin])
    #expect(outcomes == ["attempt 1", "first end", "ignore", "ignore", "refused"])
  }

  @Test func `No two attempts run at a time`() {
    #expect(outcomes(of: [.begin, .begin]) == ["attempt 1", "refused"])
  }
}
