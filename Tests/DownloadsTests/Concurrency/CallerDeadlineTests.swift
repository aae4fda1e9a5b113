import DownloadSupport
import TestSupport
import Testing

@testable import Downloads

/// The deadline of one caller.
@Suite(.timeLimit(.minutes(10))) struct CallerDeadlineTests {
  private let clock = ManualClock()
  private let passed = Counter()

  private func set(_ deadline: borrowing Deadline) {
    deadline.set(to: .seconds(5), after: { [clock] in clock.run(after: $0, $1) }) { [passed] in passed.next() }
  }

  @Test func `A deadline passes once, after its time`() async {
    let deadline = Deadline()
    set(deadline)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(4))
    #expect(passed.value == 0)
    clock.advance(by: .seconds(1))
    await eventually { passed.value == 1 }
    clock.advance(by: .seconds(5))

    #expect(passed.value == 1 && clock.nextDeadline == nil)
  }

  @Test(arguments: [true, false]) func `Canceling a deadline, before or after it is set, cancels its timer`(
    isEarly: Bool
  ) async {
    let deadline = Deadline()
    let timer = Task<Void, Never> { [clock] in try? await clock.sleep(for: .seconds(5)) }
    if isEarly { deadline.cancel() }
    deadline.set(to: .seconds(5), after: { _, _ in timer }) {}
    #expect(timer.isCancelled == isEarly)
    deadline.cancel()

    #expect(timer.isCancelled)
    await timer.value
  }
}
