import Testing

@testable import BatchFetch

@Suite struct SharedDownloadStateTests {
  private enum Event {
    case want(ThumbnailRequest.Priority, revision: UInt64)
    case pause(revision: UInt64)
    case rested
    case finished
    case cancel
  }

  /// What each event asks for. Operations are called 1, 2 and so on.
  private func actions(for events: [Event]) -> [String] {
    var state = SharedDownloadState<Int>()
    var count = 0
    func make(_ rest: DownloadState) -> Int {
      count += 1
      return count
    }
    func want(_ priority: ThumbnailRequest.Priority, _ isPaused: Bool, _ revision: UInt64) -> String {
      "\(state.want(.init(priority: priority, isPaused: isPaused, revision: revision), make: make))"
    }
    return events.map { event in
      switch event {
      case .want(let priority, let revision): return want(priority, false, revision)
      case .pause(let revision): return want(.normal, true, revision)
      case .rested: return "\(state.rest(DownloadState(), make: make))"
      case .cancel: return "\(state.cancel())"
      case .finished:
        state.finish()
        return "finished"
      }
    }
  }

  @Test func `It starts when somebody wants it, once`() {
    let actions = actions(for: [.want(.normal, revision: 1), .want(.normal, revision: 2)])
    #expect(actions[0] == "start(1)" && actions[1].hasPrefix("setPriority(1,"))
  }

  @Test func `Paused before it started, it starts when it is resumed`() {
    #expect(actions(for: [.pause(revision: 1), .want(.normal, revision: 2)]) == ["none", "start(1)"])
  }

  @Test func `Paused and resumed, it goes on in another operation`() {
    let actions = actions(
      for: [.want(.normal, revision: 1), .pause(revision: 2), .rested, .want(.normal, revision: 3)])
    #expect(actions == ["start(1)", "pause(1)", "none", "start(2)"])
  }

  @Test func `Resumed before it has stopped, it goes on as soon as it has`() {
    let actions = actions(
      for: [.want(.normal, revision: 1), .pause(revision: 2), .want(.high, revision: 3), .rested])
    #expect(actions[2].hasPrefix("setPriority(1,") && actions[3] == "start(2)")
  }

  @Test func `Of two wishes that come in the wrong order the later one counts`() {
    let actions = actions(for: [.want(.normal, revision: 1), .want(.normal, revision: 3), .pause(revision: 2)])
    #expect(actions.last == "none")
  }

  @Test func `Cancelled, it starts nothing again`() {
    let actions = actions(
      for: [.want(.normal, revision: 1), .cancel, .want(.normal, revision: 2), .pause(revision: 3), .cancel])
    #expect(actions == ["start(1)", "cancel(1)", "none", "none", "none"])
  }

  @Test func `Cancelled while it rests, nobody but itself can say so`() {
    #expect(actions(for: [.pause(revision: 1), .cancel]) == ["none", "end"])
  }

  @Test func `Cancelled while it stops, it ends whatever the operation says`() {
    let actions = actions(for: [.want(.normal, revision: 1), .pause(revision: 2), .cancel, .rested])
    #expect(actions == ["start(1)", "pause(1)", "cancel(1)", "end"])
  }

  @Test func `A pause that comes too late changes nothing`() {
    let actions = actions(for: [.want(.normal, revision: 1), .finished, .pause(revision: 2)])
    #expect(actions == ["start(1)", "finished", "none"])
  }
}
