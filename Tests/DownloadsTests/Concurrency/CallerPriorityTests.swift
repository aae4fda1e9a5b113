import Synchronization
import TestSupport
import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(20))) struct CallerPriorityTests {
  /// A caller that only records its priority.
  private final class Caller: PrioritizedCaller {
    let followed = Recorder<Priority>()
    private let priority: Mutex<CallerPriority>

    init(_ own: Priority) { priority = Mutex(CallerPriority(own)) }

    var current: Priority { withPriority { $0.current } }
    /// The end of this caller.
    var end: Milestone { Milestone(of: self) }

    func withPriority<Result: Sendable>(_ body: (inout CallerPriority) -> Result) -> Result {
      priority.withLock { body(&$0) }
    }

    func follow(_ priority: Priority) { followed.record(priority) }
  }

  // MARK: The value

  @Test(arguments: Priority.allCases) func `A caller is as urgent as the most urgent one that waits for it`(
    own: Priority
  ) {
    var priority = CallerPriority(own)
    for next in [Priority.low, .high, .normal] { priority.count(nil, to: next) }
    #expect(priority.current == .high)
    priority.count(.high, to: .low)
    #expect(priority.current == max(own, .normal))
    priority.count(.normal, to: nil)
    #expect(priority.current == max(own, .low))
  }

  @Test func `Changes may be counted in any order`() {
    var priority = CallerPriority(.low)
    priority.count(.normal, to: .high)
    priority.count(nil, to: .normal)
    #expect(priority.current == .high)
    priority.count(.low, to: nil)
    priority.count(.high, to: .low)
    #expect(priority.current == .low)
  }

  @Test func `A priority that the token has chosen is not replaced by that of the request`() {
    var priority = CallerPriority(.normal)
    priority.adopt(.high)
    #expect(priority.current == .high)
    priority.choose(.low)
    priority.adopt(.high)
    #expect(priority.current == .low)
  }

  // MARK: Callers

  @Test func `A priority passes to all whose end a caller waits for, and follows its changes until it ends`() {
    let (first, second, third) = (Caller(.low), Caller(.normal), Caller(.low))
    let ends = [first.end, second.end, Milestone()]
    third.wait(for: ends)
    #expect(first.current == .low && second.current == .normal && first.followed.values.isEmpty)

    for priority in [Priority.high, .normal, .high] { third.setPriority(priority) }
    #expect(first.followed.values == [.high, .normal, .high])
    #expect(second.followed.values == [.high, .normal, .high])

    third.stopWaiting()
    #expect(first.current == .low && second.current == .normal)
    third.setPriority(.low)
    #expect(first.followed.values == [.high, .normal, .high, .low])
  }

  @Test func `A caller that has its end never begins to wait`() {
    let (first, second) = (Caller(.low), Caller(.high))
    second.stopWaiting(forever: true)
    let end = first.end
    second.wait(for: [end])
    #expect(first.current == .low)
  }

  @Test func `Neither a milestone nor a caller that waits for it keeps the caller whose end it is`() {
    let waiting = Caller(.normal)
    weak var released: Caller?
    let end = {
      let caller = Caller(.low)
      released = caller
      return caller.end
    }()
    waiting.wait(for: [end])
    #expect(released == nil && end.caller == nil)
    waiting.setPriority(.high)
    waiting.stopWaiting()
  }

  @Test func `A priority passes through a chain of a hundred thousand callers, and back`() {
    let callers = (0..<100_000).map { _ in Caller(.low) }
    let ends = callers.map(\.end)
    for (caller, end) in zip(callers.dropFirst(), ends) { caller.wait(for: [end]) }

    callers.last?.setPriority(.high)
    #expect(callers.allSatisfy { $0.current == .high })

    callers[50_000].stopWaiting()
    #expect(callers[..<50_000].allSatisfy { $0.current == .low })
    #expect(callers[50_000...].allSatisfy { $0.current == .high })
  }

  @Test func `Callers that wait for each other do not pass a priority around forever`() {
    let (first, second) = (Caller(.low), Caller(.low))
    let ends = [first.end, second.end]
    first.wait(for: [ends[1]])
    second.wait(for: [ends[0]])
    first.setPriority(.high)
    #expect(first.current == .high && second.current == .high)
  }

  @Test func `After changes by two threads, the work follows the latest priority`() async {
    let (firsts, seconds) = ((0..<1000).map { _ in Caller(.low) }, (0..<1000).map { _ in Caller(.low) })
    let ends = firsts.map(\.end)
    await race(1000) { index in
      seconds[index].wait(for: [ends[index]])
      firsts[index].setPriority(.normal)
    } against: {
      seconds[$0].setPriority(.high)
    }
    #expect(firsts.allSatisfy { $0.current == .high && $0.followed.values.last == .high })

    await race(1000) { index in
      seconds[index].stopWaiting()
      firsts[index].setPriority(.low)
    } against: {
      seconds[$0].setPriority(.normal)
    }
    #expect(firsts.allSatisfy { $0.current == .low && $0.followed.values.last == .low })
  }
}
