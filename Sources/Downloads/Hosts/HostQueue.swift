/// The downloads that wait for one host, and all that decides when the next one may send its request. A plain value.
struct HostQueue: Sendable {
  typealias Ticket = TransferScheduler.Ticket

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
    case waiting(PriorityQueue<Ticket>.Place)
    case preparing
    case ready(PriorityQueue<Ticket>.Place)
    case running
  }

  /// The maximum number of running transfers and, separately, of prepared tickets.
  private let places: Int
  private let retry: RetryPolicy
  private var backoff = HostBackoff()
  private var rate: RateLimiter?
  private var breaker: HostBreaker
  private var waiting = PriorityQueue<Ticket>()
  private var ready = PriorityQueue<Ticket>()
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
    self.rate = rate.map { RateLimiter($0) }
    breaker = HostBreaker(maxFailures: maxFailures)
  }

  /// True if no ticket is in the line.
  var isEmpty: Bool { waiting.isEmpty && ready.isEmpty && preparing == 0 && running == 0 }

  private func isIdle(at now: Duration) -> Bool {
    isEmpty && backoff.isIdle && breaker.isIdle && (rate?.next ?? .zero) <= now
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
  mutating func end(_ ticket: Ticket, at stage: Stage, _ contact: TransferScheduler.Contact, now: Duration) {
    leave(stage)
    sent(ticket, now: now)
    switch contact {
    case .response(let refusal):
      breaker.reached()
      if let refusal { backoff.refuse(refusal, policy: retry, now: now) } else { backoff.accept() }
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
    backoff.open(at: now)
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
    guard backoff.isTooLong, let end = backoff.closedUntil else { return nil }
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
    if waiting.isEmpty, ready.isEmpty { return backoff.closedUntil }
    return breaker.pauseEnd ?? openTime.later(than: now)
  }

  /// The time before which no request may start.
  private var openTime: Duration { max(backoff.closedUntil ?? .zero, rate?.next ?? .zero) }

  private var limit: Int { min(places, breaker.limit ?? places) }
}

extension Duration {
  fileprivate func later(than now: Duration) -> Duration? { self > now ? self : nil }
}

/// Finds out that a host is dead: it refuses connections, does not respond to them, or its name lookup fails
/// temporarily. A name that does not exist does not count: it fails for good. A plain value; times are those of the
/// injected clock.
///
/// ```
///           failures in a row              pause is over            probe failed
///   closed ------------------> suspected ----------------> probing --------------> dead
///     ^                          |                           |  ^                    |
///     +--- any contact ----------+---------------------------+  +--- pause is over --+
/// ```
///
/// While the host is suspected, its downloads wait. While it is dead, they fail at once. The pause before each probe is
/// twice as long as the one before.
struct HostBreaker: Sendable {
  enum Phase: Equatable, Sendable {
    case closed
    /// Waits before one request is let through.
    case suspected(until: Duration)
    /// One request finds out whether the host is back. The flag tells if the host was dead before.
    case probing(wasDead: Bool)
    case dead(until: Duration)
  }

  /// The pause before the first probe.
  static let firstPause = Duration.seconds(1)
  private static let firstDeath = Duration.seconds(15)
  private static let longestPause = Duration.seconds(240)

  private(set) var phase = Phase.closed
  private let maxFailures: Int?
  private var failures = 0
  private var probes = 0

  /// - Parameter maxFailures: The number of failures in a row after which the host is suspected; nil for never.
  init(maxFailures: Int?) { self.maxFailures = maxFailures.map { max(1, $0) } }

  /// True if no failure is recorded.
  var isIdle: Bool { phase == .closed && failures == 0 }

  /// The maximum number of requests at a time; nil for no limit by the breaker.
  var limit: Int? {
    switch phase {
    case .closed: nil
    case .probing: 1
    case .suspected, .dead: 0
    }
  }

  /// True while downloads fail at once.
  var isDead: Bool { if case .dead = phase { true } else { false } }

  /// The time at which a probe may start; nil if nothing is to be waited for.
  var pauseEnd: Duration? {
    switch phase {
    case .suspected(let end), .dead(let end): end
    case .closed, .probing: nil
    }
  }

  /// Records that the host was reached.
  mutating func reached() {
    failures = 0
    probes = 0
    phase = .closed
  }

  /// Records a failure to reach the host, by the probe or by another request. Failures of requests that began before
  /// the host was suspected do not count.
  mutating func failed(isProbe: Bool, now: Duration) {
    failures += 1
    switch phase {
    case .closed:
      if let maxFailures, failures >= maxFailures { phase = .suspected(until: now + Self.firstPause) }
    case .probing where isProbe:
      phase = .dead(until: now + min(Self.firstDeath * (1 << min(probes, 10)), Self.longestPause))
      probes += 1
    case .probing, .suspected, .dead: break
    }
  }

  /// Records that the probe ended without a result, because it was canceled.
  mutating func probeAbandoned(now: Duration) {
    guard case .probing(let wasDead) = phase else { return }
    phase = wasDead ? .dead(until: now) : .suspected(until: now)
  }

  /// Lets a probe through if the pause is over.
  mutating func advance(to now: Duration) {
    guard let end = pauseEnd, end <= now else { return }
    phase = .probing(wasDead: isDead)
  }
}

/// The pauses that a host has requested. A plain value; times are those of the injected clock.
struct HostBackoff: Sendable {
  /// A response that requests fewer requests.
  struct PauseRequest: Equatable, Sendable {
    /// True for 429 Too Many Requests (RFC 6585, section 4), false for 503 Service Unavailable (RFC 9110, section
    /// 15.6.4), which may concern one URL only.
    var isLimit: Bool
    /// The pause that the server requests with `Retry-After`; nil without that field.
    var retryAfter: Duration?
  }

  /// The end of the current pause, before which no request starts; nil if there is no pause.
  private(set) var closedUntil: Duration?
  /// True if the current pause is too long to wait for.
  private(set) var isTooLong = false
  /// The number of refusals in a row, not counting refusals of requests sent before the pause.
  private var refusals = 0
  /// The length of all pauses since the last response that was not a refusal.
  private var waited = Duration.zero

  /// True if the host has no pause, and no refusal to remember.
  var isIdle: Bool { closedUntil == nil && refusals == 0 }

  /// Records a response that is not a refusal.
  mutating func accept() {
    refusals = 0
    waited = .zero
  }

  /// Records a refusal, which may begin a pause or make it longer. Without `Retry-After`, the pauses grow
  /// exponentially: from the first 429 on, and from the second 503 in a row on.
  mutating func refuse(_ request: PauseRequest, policy: RetryPolicy, now: Duration) {
    if closedUntil == nil { refusals += 1 }
    guard let pause = request.retryAfter ?? (closedUntil == nil ? duration(of: request, policy) : nil) else { return }
    let begin = max(closedUntil ?? now, now)
    let end = now + pause.clamped(to: .waiting)
    guard end > begin else { return }
    closedUntil = end
    waited += end - begin
    isTooLong = waited > policy.maxWait
  }

  /// Ends a pause that is over.
  mutating func open(at now: Duration) {
    guard let end = closedUntil, end <= now else { return }
    closedUntil = nil
    isTooLong = false
  }

  private func duration(of request: PauseRequest, _ policy: RetryPolicy) -> Duration? {
    refusals > (request.isLimit ? 0 : 1) ? policy.ceiling(attempts: refusals) : nil
  }
}
