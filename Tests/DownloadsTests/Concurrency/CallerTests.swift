import Dispatch
import DownloadSupport
import TestSupport
import Testing

@testable import Downloads

/// The part of a caller that downloads and thumbnails share.
@Suite struct CallerTests {
  private let room = WaitingRoom<Int>()
  private let queue = DispatchQueue(label: "callers")
  private let events = Recorder<String>()

  private func makeCaller(_ name: String) -> Caller<Int> {
    Caller(priority: .normal, in: room, on: .sameThread, progress: nil) { [events] result in
      events.record("\(name) \(result.failure?.code == .cancelled ? "canceled" : "done")")
    }
  }

  private func wait(_ caller: Caller<Int>, for milestones: [Milestone], then event: String) {
    caller.wait(for: milestones, on: queue) { [events] in events.record(event) }
  }

  @Test func `A caller begins when all its milestones are reached`() {
    let (first, second) = (Milestone(), Milestone())
    let caller = makeCaller("a")

    wait(caller, for: [first, second], then: "began")
    first.reach()
    queue.sync {}
    #expect(events.values.isEmpty && room.count == 1)
    second.reach()
    queue.sync {}
    #expect(events.values == ["began"] && room.count == 0)
  }

  @Test func `A caller that is canceled never begins, and releases its work`() {
    final class Captured: Sendable {}
    let milestone = Milestone()
    let caller = makeCaller("a")
    weak var captured: Captured?
    do {
      let strong = Captured()
      captured = strong
      caller.wait(for: [milestone], on: queue) { [events] in
        withExtendedLifetime(strong) { events.record("began") }
      }
    }

    caller.cancel()
    #expect(captured == nil && room.count == 0)
    milestone.reach()
    queue.sync {}
    #expect(events.values == ["a canceled"])
  }

  @Test func `Canceling everything reaches those that wait, and those that come to wait later`() {
    let milestone = Milestone()
    let (waiting, late) = (makeCaller("waiting"), makeCaller("late"))
    wait(waiting, for: [milestone], then: "began")

    room.cancelAll()
    wait(late, for: [milestone], then: "began late")
    let new = makeCaller("new")
    wait(new, for: [milestone], then: "new began")
    milestone.reach()
    queue.sync {}

    #expect(events.values == ["waiting canceled", "late canceled", "new began"])
    #expect(late.epoch == 0 && new.epoch == 1)
  }

  @Test func `Only those that have paused are canceled when nobody can resume them`() {
    let milestone = Milestone()
    let (paused, running) = (makeCaller("paused"), makeCaller("running"))
    for caller in [paused, running] { wait(caller, for: [milestone], then: "began") }
    paused.slot.setPaused(true)

    room.cancelPaused()
    milestone.reach()
    queue.sync {}

    #expect(events.values == ["paused canceled", "began"])
  }

  @Test func `Each caller is in the group until its end is delivered`() {
    let callers = [makeCaller("a"), makeCaller("b")]

    callers[0].end(.success(1))
    #expect(room.group.wait(timeout: .now()) == .timedOut)
    callers[1].cancel()
    callers[1].end(.success(2))

    #expect(room.group.wait(timeout: .now()) == .success)
    #expect(events.values == ["a done", "b canceled"])
  }
}
