/// The downloads that wait for one host, and all that decides when the next one may send its request. A plain value.
struct HostLine: Sendable {
  typealias Ticket = TransferSchedule.Ticket

  /// The reason why the downloads of a host fail without a request.
  enum Refusal: Equatable, Sendable {
    /// The host could not be reached by earlier requests.
    case dead
    /// The host has requested a pause that is too long to wait for. It ends at this time.
    case paused(until: Duration)
  }

  /// The steps of the line at some time.
  struct Steps: Sendable {
    /// The tickets that are refused, and the reason.
    var refused: (tickets: [Ticket], refusal: Refusal)?
    /// The tickets that are prepared from now on.
    var prepared: [Ticket] = []
    /// The time for which a wake-up must be requested; nil if it is requested already, or the line needs no wake-up.
    var wakeUp: Duration?
    /// The priority of the ticket that may start its transfer now; nil if none may.
    var turn: Priority?
    /// True if the line is empty and nothing about the host must be remembered.
    var isIdle: Bool
  }

  /// The progress of a ticket, with its place among those that wait.
  enum Stage: Sendable {
    /// Not in the line yet.
    case new
    case waiting(PriorityLine<Ticket>.Place)
    case preparing
    case ready(PriorityLine<Ticket>.Place)
    case running
  }

  /// The maximum number of running transfers, and again of tickets that are prepared for them.
  private let places: Int
  private let retry: RetryPolicy
  private var pace = HostPace()
  private var rate: RequestPace?
  private var breaker: HostBreaker
  private var waiting = PriorityLine<Ticket>()
  private var ready = PriorityLine<Ticket>()
  private var preparing = 0
  private var running = 0
  /// The running ticket whose request is not sent yet, if the host has a rate. No other transfer starts until then:
  /// those that wait for one connection would send their requests at the same time.
  private var unsent: Ticket?
  /// The ticket that finds out whether the host is back.
  private var probe: Ticket?
  /// The time of the wake-up that was requested last.
  private var wakeUp: Duration?

  init(places: Int, rate: RequestRate?, maxFailures: Int?, retry: RetryPolicy) {
    self.places = places
    self.retry = retry
    self.rate = rate.map { RequestPace($0) }
    breaker = HostBreaker(maxFailures: maxFailures)
  }

  /// True if no ticket is in the line.
  var isEmpty: Bool { waiting.isEmpty && ready.isEmpty && preparing == 0 && running == 0 }

  private func isIdle(at now: Duration) -> Bool {
    isEmpty && pace.isIdle && breaker.isIdle && (rate?.next ?? .zero) <= now
  }

  /// Returns true if the line is empty and its host has no pause: at most a few failures would be forgotten with it.
  func isDispensable(at now: Duration) -> Bool { isEmpty && max(openTime, breaker.pauseEnd ?? .zero) <= now }

  // MARK: Tickets

  /// Adds a ticket. Returns its stage.
  mutating func add(_ ticket: Ticket, _ priority: Priority, isPrepared: Bool) -> Stage {
    isPrepared ? .ready(ready.append(ticket, priority)) : .waiting(waiting.append(ticket, priority))
  }

  /// Changes the order of a ticket.
  mutating func change(_ stage: Stage, to priority: Priority) {
    switch stage {
    case .waiting(let place): waiting.change(place, to: priority)
    case .ready(let place): ready.change(place, to: priority)
    case .new, .preparing, .running: break
    }
  }

  /// Takes the next ticket to prepare; nil if no ticket waits, or enough are prepared.
  private mutating func takeForPreparation() -> Ticket? {
    guard mayPrepare, let ticket = waiting.popFirst() else { return nil }
    preparing += 1
    if case .probing = breaker.phase { probe = ticket }
    return ticket
  }

  /// True if the next ticket may be prepared: as many are prepared as may run, and one that is more urgent than those.
  private var mayPrepare: Bool {
    guard let next = waiting.topPriority, preparing < places else { return false }
    if let limit = breaker.limit { return preparing + ready.count + running < limit }
    return preparing + ready.count < places || ready.topPriority.map { next > $0 } ?? false
  }

  /// Puts a prepared ticket among those that are ready. Returns its stage.
  mutating func prepared(_ ticket: Ticket, _ priority: Priority) -> Stage {
    preparing -= 1
    return .ready(ready.append(ticket, priority))
  }

  /// Takes the ready ticket that starts its transfer now. Call this only if ``Steps/turn`` is a priority.
  mutating func takeForTransfer() -> Ticket? {
    guard let ticket = ready.popFirst() else { return nil }
    running += 1
    if rate != nil { unsent = ticket }
    if case .probing = breaker.phase { probe = ticket }
    return ticket
  }

  /// Records that the request of a running ticket is sent.
  mutating func sent(_ ticket: Ticket, now: Duration) {
    guard ticket == unsent else { return }
    unsent = nil
    rate?.record(at: now)
  }

  /// Removes a ticket that gives up before its transfer.
  mutating func remove(_ ticket: Ticket, at stage: Stage, now: Duration) {
    leave(stage)
    abandonProbe(ticket, now)
  }

  /// Ends the preparation or the transfer of a ticket, and learns from its result.
  mutating func end(_ ticket: Ticket, at stage: Stage, _ contact: TransferSchedule.Contact, now: Duration) {
    leave(stage)
    sent(ticket, now: now)
    switch contact {
    case .response(let refusal):
      breaker.reached()
      if let refusal { pace.refuse(refusal, policy: retry, now: now) } else { pace.accept() }
    case .reached: breaker.reached()
    case .unreachable: breaker.failed(isProbe: ticket == probe, now: now)
    case .abandoned: abandonProbe(ticket, now)
    }
    if ticket == probe { probe = nil }
  }

  private mutating func leave(_ stage: Stage) {
    switch stage {
    case .new: break
    case .waiting(let place): waiting.remove(place)
    case .preparing: preparing -= 1
    case .ready(let place): ready.remove(place)
    case .running: running -= 1
    }
  }

  private mutating func abandonProbe(_ ticket: Ticket, _ now: Duration) {
    guard ticket == probe else { return }
    probe = nil
    breaker.probeAbandoned(now: now)
  }

  // MARK: Time

  /// Ends the pauses that are over, and returns what follows.
  mutating func advance(to now: Duration) -> Steps {
    pace.open(at: now)
    if !(waiting.isEmpty && ready.isEmpty) { breaker.advance(to: now) }
    let refused = refusal.map { (ready.removeAll() + waiting.removeAll(), $0) }
    var prepared: [Ticket] = []
    while let ticket = takeForPreparation() { prepared.append(ticket) }
    return Steps(
      refused: refused, prepared: prepared, wakeUp: takeWakeUp(at: now), turn: turn(at: now), isIdle: isIdle(at: now))
  }

  /// The reason to refuse all waiting tickets; nil if they may wait.
  private var refusal: Refusal? {
    if breaker.isDead { return .dead }
    guard pace.isTooLong, let end = pace.closedUntil else { return nil }
    return .paused(until: end)
  }

  private func turn(at now: Duration) -> Priority? {
    running < limit && unsent == nil && openTime <= now ? ready.topPriority : nil
  }

  private mutating func takeWakeUp(at now: Duration) -> Duration? {
    guard let time = nextChange(after: now), wakeUp.map({ time < $0 }) ?? true else { return nil }
    wakeUp = time
    return time
  }

  /// Records that a wake-up has come. Returns false for one that an earlier one has replaced.
  mutating func takeWakeUp(requestedFor time: Duration) -> Bool {
    guard wakeUp == time else { return false }
    wakeUp = nil
    return true
  }

  private func nextChange(after now: Duration) -> Duration? {
    if waiting.isEmpty, ready.isEmpty { return pace.closedUntil }
    return breaker.pauseEnd ?? openTime.later(than: now)
  }

  /// The time before which no request may start.
  private var openTime: Duration { max(pace.closedUntil ?? .zero, rate?.next ?? .zero) }

  private var limit: Int { min(places, breaker.limit ?? places) }
}

extension Duration {
  fileprivate func later(than now: Duration) -> Duration? { self > now ? self : nil }
}
