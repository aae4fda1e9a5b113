import DownloadSupport
import HTTPTypes
import Testing

@testable import Downloads

@Suite struct DownloadStateTests {
  typealias Phase = DownloadState.Phase

  enum Event: CaseIterable, Sendable {
    case begin, pause, resume, raise, oldDemand, cancel
    case attempt, attemptInOldTurn, backedOff, backedOffInOldTurn
    case refused, complete, failForGood, failForNow, rangeRefused, redirected, interrupted
  }

  /// A machine under test. Remembers the turns that it has named.
  private struct Driver {
    var machine = DownloadState()
    var retries = 9
    var revision: UInt64 = 0
    var turns: [DownloadState.Turn] = []

    mutating func change(_ priority: Priority = .normal, isPaused: Bool = false, revision: UInt64? = nil) -> String {
      self.revision = revision ?? self.revision + 1
      return name(machine.change(to: JointDemand(priority: priority, isPaused: isPaused, revision: self.revision)))
    }

    mutating func attempt(in turn: DownloadState.Turn?) -> String {
      guard let turn, let attempt = machine.attempt(in: turn) else { return "refused" }
      return "attempt \(machine.attempts)" + (attempt.partial.map { " from \($0.body.bytes.count)" } ?? "")
    }

    mutating func end(_ result: DownloadState.AttemptResult) -> String {
      let policy = RetryPolicy(limit: retries)
      return name(machine.attemptEnded(result, retryAfter: .seconds(2), policy: policy, jitter: 0))
    }

    mutating func fail(_ code: FailureCode, kept: Int? = nil) -> String {
      end(.failed(code, kept: kept.flatMap { .sample(count: $0) }))
    }

    mutating func backedOff(in turn: DownloadState.Turn?) -> String {
      turn.map { name(machine.backedOff(in: $0)) } ?? "none"
    }

    /// Handles an event. Returns the action in short.
    mutating func handle(_ event: Event) -> String {
      switch event {
      case .begin: name(machine.begin())
      case .pause: change(isPaused: true)
      case .resume: change()
      case .raise: change(.high, isPaused: machine.phase == .paused || machine.phase == .stopping)
      case .oldDemand: change(isPaused: true, revision: 0)
      case .cancel: name(machine.cancel())
      case .attempt: attempt(in: turns.last)
      case .attemptInOldTurn: attempt(in: turns.dropLast().last)
      case .backedOff: backedOff(in: turns.last)
      case .backedOffInOldTurn: backedOff(in: turns.dropLast().last)
      case .refused: turns.last.map { name(machine.refused(in: $0)) } ?? "none"
      case .complete: end(.complete)
      case .failForGood: fail(.http(404))
      case .failForNow: fail(.stalled)
      case .rangeRefused: end(.rangeRefused)
      case .redirected: end(.redirected(kept: .sample(count: 5)))
      case .interrupted: fail(.cancelled)
      }
    }

    mutating func name(_ action: DownloadState.Action) -> String {
      switch action {
      case .enqueue(let turn):
        turns.append(turn)
        return "enqueue"
      case .backOff(let pause, let turn):
        turns.append(turn)
        return "back off \(pause)"
      case .setPriority(let priority): return "\(priority)"
      default: return "\(action)"
      }
    }

    /// Handles events. Returns the actions in short.
    mutating func handle(_ events: [Event]) -> [String] { events.map { handle($0) } }
  }

  /// The events that lead to each phase, with an old turn where there can be one.
  private static let paths: [(phase: Phase, events: [Event])] = [
    (.waiting, []),
    (.paused, [.begin, .attempt, .failForNow, .pause]),
    (.queued, [.begin, .pause, .resume]),
    (.attempting, [.begin, .pause, .resume, .attempt]),
    (.backingOff, [.begin, .attempt, .failForNow]),
    (.stopping, [.begin, .pause, .resume, .attempt, .pause]),
    (.ended, [.begin, .attempt, .failForNow, .backedOff, .attempt, .complete]),
  ]

  /// The action and the next phase for every event in every phase; `-` stands for "none, and the same phase".
  static let table: [(event: Event, expected: [String])] = [
    // waiting, paused, queued, attempting, backingOff, stopping, ended
    (.begin, ["enqueue queued", "-", "-", "-", "-", "-", "-"]),
    (.pause, ["-", "-", "rest paused", "cancelTransfer stopping", "rest paused", "normal stopping", "-"]),
    (
      .resume,
      ["-", "enqueue queued", "normal queued", "normal attempting", "normal backingOff", "normal stopping", "-"]
    ),
    (.raise, ["-", "-", "high queued", "high attempting", "high backingOff", "high stopping", "-"]),
    (.oldDemand, ["-", "-", "-", "-", "-", "-", "-"]),
    (.cancel, ["abort ended", "abort ended", "abort ended", "abort ended", "abort ended", "abort ended", "-"]),
    (.attempt, ["refused", "refused", "attempt 1 attempting", "refused", "refused", "refused", "refused"]),
    (.attemptInOldTurn, ["refused", "refused", "refused", "refused", "refused", "refused", "refused"]),
    (.backedOff, ["-", "-", "-", "-", "enqueue queued", "-", "-"]),
    (.backedOffInOldTurn, ["-", "-", "-", "-", "-", "-", "-"]),
    (.refused, ["-", "-", "finish ended", "-", "-", "-", "-"]),
    (.complete, ["-", "-", "-", "finish ended", "-", "finish ended", "-"]),
    (.failForGood, ["-", "-", "-", "finish ended", "-", "finish ended", "-"]),
    (.failForNow, ["-", "-", "-", "back off 2.0 seconds backingOff", "-", "rest paused", "-"]),
    (.rangeRefused, ["-", "-", "-", "enqueue queued", "-", "rest paused", "-"]),
    (.redirected, ["-", "-", "-", "enqueue queued", "-", "rest paused", "-"]),
    (.interrupted, ["-", "-", "-", "finish ended", "-", "rest paused", "-"]),
  ]

  @Test(arguments: table)
  func `Every event in every phase leads to its action and phase`(row: (event: Event, expected: [String])) {
    for (path, expected) in zip(Self.paths, row.expected) {
      var driver = Driver()
      _ = driver.handle(path.events)
      #expect(driver.machine.phase == path.phase)

      let action = driver.handle(row.event)

      let isRefused = action == "refused" || action == "none"
      let result = isRefused && driver.machine.phase == path.phase ? action : "\(action) \(driver.machine.phase)"
      #expect(result == (expected == "-" ? "none" : expected), "\(row.event) while \(path.phase)")
    }
  }

  @Test func `The table has every event, and the paths every phase`() {
    #expect(Self.table.map(\.event) == Event.allCases)
    #expect(Self.paths.count == 7)
    #expect(Self.table.allSatisfy { $0.expected.count == Self.paths.count })
  }

  // MARK: Sequences

  @Test func `A download that is paused before it begins waits for its callers`() {
    var driver = Driver()
    #expect(driver.handle([.pause, .begin, .resume]) == ["none", "rest", "enqueue"])
  }

  @Test func `A temporary failure is retried until the retries are used up`() {
    var driver = Driver(retries: 1)
    let actions = driver.handle([.begin, .attempt, .failForNow, .backedOff, .attempt, .failForNow])
    #expect(actions == ["enqueue", "attempt 1", "back off 2.0 seconds", "enqueue", "attempt 2", "finish"])
  }

  @Test func `Each attempt takes the bytes that the one before has kept, and no later attempt takes them again`() {
    var driver = Driver()
    _ = driver.handle([.begin, .attempt])
    _ = driver.fail(.connectionLost, kept: 3)
    let second = driver.handle([.backedOff, .attempt]).last
    _ = driver.fail(.connectionLost, kept: 7)
    let third = driver.handle([.backedOff, .attempt]).last
    let fourth = driver.handle([.failForNow, .backedOff, .attempt]).last

    #expect([second, third, fourth] == ["attempt 2 from 3", "attempt 3 from 7", "attempt 4"])
  }

  @Test func `A refused range is followed by a transfer at once, which is neither a retry nor a new attempt`() {
    var driver = Driver(retries: 1)
    let actions = driver.handle([
      .begin, .attempt, .failForNow, .backedOff, .attempt, .rangeRefused, .attempt, .failForNow,
    ])
    #expect(actions.suffix(4) == ["attempt 2", "enqueue", "attempt 2", "finish"])
  }

  @Test func `A redirect continues the same attempt and the bytes that were kept`() {
    var driver = Driver(retries: 1)
    let actions = driver.handle([.begin, .attempt, .redirected, .attempt, .redirected, .attempt, .failForNow])
    let next = driver.handle([.backedOff, .attempt])

    #expect(
      actions.dropFirst(2) == ["enqueue", "attempt 1 from 5", "enqueue", "attempt 1 from 5", "back off 2.0 seconds"])
    #expect(next == ["enqueue", "attempt 2"])
  }

  @Test(arguments: [
    [Event.redirected, .pause, .resume], [.pause, .redirected, .resume], [.pause, .resume, .redirected],
  ])
  func `A download that is paused at a redirect starts over at its own URL, in the same attempt`(events: [Event]) {
    var driver = Driver()
    _ = driver.handle([.begin, .attempt] + events)

    #expect(!driver.machine.isRedirected)
    #expect(driver.handle(.attempt) == "attempt 1 from 5")
  }

  @Test func `A refusal in an old turn changes nothing`() {
    var driver = Driver()
    _ = driver.handle([.begin, .pause, .resume])

    let action = driver.machine.refused(in: driver.turns[0])
    #expect(action == .none)
    #expect(driver.machine.phase == .queued)
  }

  @Test func `A paused download continues the bytes of the attempt that the pause has canceled`() {
    var driver = Driver()
    _ = driver.handle([.begin, .attempt, .pause])
    let rest = driver.fail(.cancelled, kept: 5)
    let resumed = driver.handle([.resume, .attempt])

    #expect(rest == "rest")
    #expect(resumed == ["enqueue", "attempt 1 from 5"])
  }

  @Test func `An attempt that a pause has canceled does not count as a failure`() {
    var driver = Driver(retries: 1)
    let actions = driver.handle([.begin, .attempt, .pause, .interrupted, .resume, .attempt, .failForNow])
    #expect(actions.last == "back off 2.0 seconds")
  }

  @Test func `Attempts count failures, however often the download was paused`() {
    var driver = Driver()
    let pause: [Event] = [.pause, .interrupted, .resume, .attempt]
    _ = driver.handle([.begin, .attempt] + pause + pause)
    let first = driver.machine.attempts
    let actions = driver.handle([.failForNow, .backedOff, .attempt] + pause)

    #expect(first == 1 && driver.machine.attempts == 2)
    #expect(actions.last == "attempt 2")
  }

  @Test func `A pause does not undo an end that has already come`() {
    var completed = Driver()
    #expect(completed.handle([.begin, .attempt, .pause, .complete]).last == "finish")

    var exhausted = Driver(retries: 0)
    #expect(exhausted.handle([.begin, .attempt, .pause, .failForNow]).last == "finish")
  }

  @Test func `A download that is resumed while it stops enters the queue of its host again`() {
    var driver = Driver()
    let actions = driver.handle([.begin, .attempt, .pause, .resume, .interrupted, .attempt])
    #expect(actions.suffix(2) == ["enqueue", "attempt 1"])
  }

  @Test func `A turn that was given up by a pause starts no attempt after the download has resumed`() {
    var driver = Driver()
    let actions = driver.handle([.begin, .pause, .resume, .attemptInOldTurn, .attempt])
    #expect(actions.suffix(2) == ["refused", "attempt 1"])
  }

  @Test func `The time of the first attempt is kept`() {
    var driver = Driver()
    _ = driver.handle([.begin, .attempt])
    let first = driver.machine.firstAttempt
    _ = driver.handle([.failForNow, .backedOff, .attempt])

    #expect(first != nil && driver.machine.firstAttempt == first)
    #expect(driver.machine.attempts == 2)
  }
}

extension PartialDownload {
  /// The first bytes of a body of a hundred bytes.
  static func sample(
    count: Int, fields: HTTPFields = [.eTag: "\"1\"", .contentLength: "100"], finalURL: String? = nil
  ) -> PartialDownload? {
    PartialDownload(
      head: TransferHead(response: HTTPResponse(status: .ok, headerFields: fields), finalURL: finalURL),
      body: ReceivedBody((0..<count).map { UInt8(truncatingIfNeeded: $0) }))
  }
}
