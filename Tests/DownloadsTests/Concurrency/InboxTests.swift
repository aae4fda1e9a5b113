import DownloadSupport
import Synchronization
import TestSupport
import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(20))) struct InboxTests {
  /// Owns an inbox.
  private final class Caller: Sendable {
    let inbox: Inbox<Int>
    private let settled = Mutex<Result<Int, FetchFailure>?>(nil)

    init(progress: DownloadProgress.Handler? = nil, completion: @escaping Inbox<Int>.Completion = { _ in }) {
      inbox = Inbox(progress: progress, completion: completion)
    }

    /// The outcome; nil before the completion is called.
    var outcome: Result<Int, FetchFailure>? { settled.withLock { $0 } }

    /// Delivers what is due. Returns true if the end was delivered.
    func deliver() -> Bool { inbox.deliver { result in settled.withLock { $0 = result } } }

    /// Adds the end, and delivers it. Returns true if it was due and delivered.
    func end() -> Bool { inbox.end(.success(7)) && deliver() }
  }

  private let events = Recorder<String>()

  /// A caller that records its deliveries.
  private func recordingCaller() -> Caller {
    Caller { [events] in
      events.record("\($0.received)")
    } completion: { [events] in
      events.record($0.failure?.code.description ?? "success")
    }
  }

  private func progress(_ received: Int) -> DownloadProgress {
    DownloadProgress(attempt: 1, received: received, total: 9)
  }

  // MARK: Order

  @Test func `Progress is delivered in order, then the end, and then nothing`() {
    let caller = recordingCaller()

    for received in [1, 2, 3] {
      let isDue = caller.inbox.offer(progress(received))
      let isEnd = caller.deliver()
      #expect(isDue && !isEnd)
    }
    let isDue = caller.inbox.end(.success(7), complete: progress(9))
    let isEnd = caller.deliver()
    let isLate = caller.inbox.offer(progress(9)) || caller.end() || caller.inbox.cancel()
    let isSecondEnd = caller.deliver()

    #expect(isDue && isEnd && !isLate && !isSecondEnd)
    #expect(events.values == ["1", "2", "3", "9", "success"])
    #expect(caller.outcome == .success(7))
  }

  @Test func `A cancellation replaces an end not delivered yet`() {
    let caller = recordingCaller()

    let isDue = caller.inbox.end(.success(7), complete: progress(9))
    let outcomeBefore = caller.outcome
    let isDueAgain = caller.inbox.cancel()
    _ = caller.deliver()

    #expect(isDue && !isDueAgain && outcomeBefore == nil)
    #expect(events.values == ["cancelled"])
    #expect(caller.outcome == .failure(.cancelled))
  }

  @Test func `The outcome is known within the completion`() {
    let (callers, outcomes) = (Recorder<Caller>(), Recorder<Result<Int, FetchFailure>?>())
    let caller = Caller(completion: { _ in outcomes.record(callers.values[0].outcome) })
    callers.record(caller)

    let isDelivered = caller.end()

    #expect(isDelivered && outcomes.values == [.success(7)])
  }

  @Test func `Progress and an end that are added within a closure are delivered after it has returned`() {
    let callers = Recorder<Caller>()
    let caller = Caller { [events] progress in
      events.record("begin \(progress.received)")
      let isDue =
        progress.received == 1
        ? callers.values[0].inbox.offer(DownloadProgress(attempt: 1, received: 2, total: 9))
        : callers.values[0].inbox.end(.success(7))
      events.record(isDue ? "due" : "end \(progress.received)")
    } completion: { [events] _ in
      events.record("completion")
    }
    callers.record(caller)

    _ = caller.inbox.offer(progress(1))
    let isEnd = caller.deliver()

    #expect(isEnd && events.values == ["begin 1", "end 1", "begin 2", "end 2", "completion"])
  }

  @Test func `A caller without a progress closure gets no progress`() {
    let caller = Caller()

    let isDue = caller.inbox.offer(progress(1))

    #expect(!isDue && !caller.inbox.wantsProgress)
  }

  // MARK: The milestone

  @Test func `The milestone is reached after the completion has returned`() {
    let caller = Caller(completion: { [events] _ in
      events.record("begin")
      events.record("end")
    })
    caller.inbox.finished(of: nil).whenReached { [events] in events.record("reached") }
    #expect(events.values.isEmpty)

    let isDelivered = caller.end()

    #expect(isDelivered && events.values == ["begin", "end", "reached"])
  }

  @Test func `The milestone is reached at once if it is requested after the end`() {
    let caller = Caller()

    let isDelivered = caller.end()
    for number in 0..<2 { caller.inbox.finished(of: nil).whenReached { [events] in events.record("\(number)") } }

    #expect(isDelivered && events.values == ["0", "1"])
  }

  @Test func `The milestone is not reached within the completion`() {
    let callers = Recorder<Caller>()
    let caller = Caller(completion: { [events] _ in
      callers.values[0].inbox.finished(of: nil).whenReached { events.record("reached") }
      events.record("returned")
    })
    callers.record(caller)

    let isDelivered = caller.end()

    #expect(isDelivered && events.values == ["returned", "reached"])
  }

  @Test func `A caller that was canceled reaches its milestone after the completion too`() {
    let caller = recordingCaller()
    caller.inbox.finished(of: nil).whenReached { [events] in events.record("reached") }

    let isDue = caller.inbox.cancel()
    #expect(isDue && events.values.isEmpty)
    let isEnd = caller.deliver()

    #expect(isEnd && events.values == ["cancelled", "reached"])
  }

  @Test func `A caller has one milestone`() {
    let caller = Caller()

    let first = caller.inbox.finished(of: nil)
    let isDelivered = caller.end()

    #expect(isDelivered && caller.inbox.finished(of: nil) === first)
  }

  @Test func `A milestone that is requested while the end is delivered is reached`() async {
    let (callers, reached) = ((0..<500).map { _ in Caller() }, Counter())

    await race(callers.count) {
      _ = callers[$0].end()
    } against: {
      callers[$0].inbox.finished(of: nil).whenReached { reached.next() }
    }

    #expect(reached.value == callers.count)
  }

  // MARK: Release

  @Test func `The closures are dropped after the end, though the inbox lives on`() {
    final class Captured: Sendable {}
    weak var inProgress: Captured?
    weak var inCompletion: Captured?
    let caller: Caller
    do {
      let captured = [Captured(), Captured()]
      (inProgress, inCompletion) = (captured[0], captured[1])
      caller = Caller { [first = captured[0]] _ in
        withExtendedLifetime(first) {}
      } completion: { [second = captured[1]] _ in
        withExtendedLifetime(second) {}
      }
    }
    #expect(inProgress != nil && inCompletion != nil)

    let isDelivered = caller.end()

    #expect(isDelivered && inProgress == nil && inCompletion == nil)
    withExtendedLifetime(caller) {}
  }
}
