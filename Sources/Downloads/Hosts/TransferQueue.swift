internal import Foundation
internal import Synchronization

/// The queue of all downloads of a downloader. Carries out what its ``TransferScheduler`` decides.
package final class TransferQueue: Sendable {
  typealias Ticket = TransferScheduler.Ticket

  /// An event of a ticket.
  enum Event: Sendable {
    /// Prepare the transfer.
    case prepare(Ticket)
    /// Start the transfer.
    case start(Ticket)
    /// The ticket has been removed, because its host is not available.
    case refuse(HostQueue.Refusal)
  }

  /// Receives the events of one ticket, on any thread. Must not block.
  typealias Handler = @Sendable (Event) -> Void

  /// Decisions to carry out after all locks are released.
  struct Effects: Sendable {
    fileprivate typealias Call = (handler: Handler, event: Event)

    fileprivate var calls: [Call] = []
    fileprivate var wakeUps: [(host: String, time: Duration)] = []
  }

  /// Someone who may keep transfers from starting.
  package enum Suspender: Hashable, Sendable {
    /// The user of the downloader.
    case user
    /// The pipeline with this budget, which several may share a downloader with.
    case budget(ObjectIdentifier)
  }

  fileprivate struct State {
    /// Those who keep transfers from starting now.
    var suspenders: Set<Suspender> = []
    /// Those who keep transfers of single hosts from starting now.
    var holders: [String: Set<Suspender>] = [:]
    var schedule: TransferScheduler
    var handlers: [Ticket: Handler] = [:]
    /// The calls that are decided, but not made yet.
    var calls = FIFO<Effects.Call>()
    /// True while a thread makes calls.
    var isPerforming = false
  }

  private let state: Mutex<State>
  private let clock: any Clock<Duration>
  /// The time on the injected clock since the downloader was made.
  private let now: @Sendable () -> Duration

  init(_ schedule: TransferScheduler, clock: any Clock<Duration>, now: @escaping @Sendable () -> Duration) {
    state = Mutex(State(schedule: schedule))
    self.clock = clock
    self.now = now
  }

  /// The number of hosts with downloads, or with something to be remembered.
  var hostCount: Int { state.withLock { $0.schedule.hostCount } }

  /// The number of tickets: of downloads that wait for their transfer, and of running ones.
  package var ticketCount: Int { state.withLock { $0.schedule.ticketCount } }

  /// True while new transfers do not start.
  var isSuspended: Bool { state.withLock { $0.schedule.isSuspended } }

  /// Returns true if `suspender` keeps new transfers from starting.
  func isSuspended(by suspender: Suspender) -> Bool { state.withLock { $0.suspenders.contains(suspender) } }

  /// Keeps new transfers from starting, until no suspender is left.
  package func setSuspended(_ isSuspended: Bool, by suspender: Suspender) {
    perform(
      change { state, now in
        if isSuspended { state.suspenders.insert(suspender) } else { state.suspenders.remove(suspender) }
        return state.schedule.suspend(!state.suspenders.isEmpty, now: now)
      })
  }

  /// Keeps new transfers of a host from starting, until nobody holds it.
  package func setHeld(_ host: String, _ isHeld: Bool, by suspender: Suspender) {
    perform(
      change { state, now in
        var holders = state.holders[host] ?? []
        if isHeld { holders.insert(suspender) } else { holders.remove(suspender) }
        state.holders[host] = holders.isEmpty ? nil : holders
        return state.schedule.setHeld(host, !holders.isEmpty, now: now)
      })
  }

  /// Runs `body`, which cancels many downloads, and starts none of them in between.
  package func whileFrozen(_ body: () -> Void) {
    state.withLock { $0.schedule.freeze() }
    body()
    perform(change { $0.schedule.thaw(now: $1) })
  }

  // The methods that return effects may be called under the lock of a job: they call no handlers. The job performs the
  // effects after it has unlocked.

  /// Adds a ticket for a request to `host`. One that `isPrepared` gets no event to prepare.
  func add(
    to host: String, _ priority: Priority, isPrepared: Bool, _ handler: @escaping Handler
  ) -> (Ticket, Effects) {
    let now = now()
    return state.withLock { state in
      let (ticket, actions) = state.schedule.add(to: host, priority, isPrepared: isPrepared, now: now)
      state.handlers[ticket] = handler
      return (ticket, state.effects(of: actions))
    }
  }

  /// Changes the priority of a ticket.
  func change(_ ticket: Ticket, to priority: Priority) -> Effects {
    change { $0.schedule.change(ticket, to: priority, now: $1) }
  }

  /// Removes a ticket whose transfer has not started.
  func remove(_ ticket: Ticket) -> Effects {
    change { state, now in
      state.handlers[ticket] = nil
      return state.schedule.remove(ticket, now: now)
    }
  }

  /// Reports that the transfer of a ticket is prepared.
  func prepared(_ ticket: Ticket) { perform(change { $0.schedule.prepared(ticket, now: $1) }) }

  /// Reports that the request of a ticket is sent. Needed only for hosts with a rate.
  func sent(_ ticket: Ticket) { perform(change { $0.schedule.sent(ticket, now: $1) }) }

  /// Reports that the preparation of a ticket has failed, or that its transfer has ended.
  func end(_ ticket: Ticket, _ contact: TransferScheduler.Contact) {
    perform(
      change { state, now in
        state.handlers[ticket] = nil
        return state.schedule.end(ticket, contact, now: now)
      })
  }

  /// Carries out decisions.
  ///
  /// Not reentrant: the first thread makes all calls, also those of other threads and those that a call leads to. If a
  /// name is known not to exist, the downloads of that host end one after the other, each as a result of the last.
  func perform(_ effects: Effects) {
    for (host, time) in effects.wakeUps {
      _ = clock.run(after: time - now()) { [weak self] in self?.wakeUp(host, time) }
    }
    guard !effects.calls.isEmpty, state.withLock({ $0.beginCalls(effects) }) else { return }
    while let (handler, event) = state.withLock({ $0.nextCall() }) { handler(event) }
  }

  private func wakeUp(_ host: String, _ time: Duration) {
    perform(change { $0.schedule.wakeUp(host, requestedFor: time, now: $1) })
  }

  private func change(_ event: (inout State, Duration) -> [TransferScheduler.Action]) -> Effects {
    let now = now()
    return state.withLock { state in
      let actions = event(&state, now)
      return state.effects(of: actions)
    }
  }
}

extension TransferQueue.State {
  /// Adds calls to those to make. Returns false if a thread makes them already.
  fileprivate mutating func beginCalls(_ effects: TransferQueue.Effects) -> Bool {
    for call in effects.calls { calls.append(call) }
    defer { isPerforming = true }
    return !isPerforming
  }

  /// Returns the next call to make; nil if none is left, which ends the work of the thread.
  fileprivate mutating func nextCall() -> TransferQueue.Effects.Call? {
    let next = calls.popFirst()
    isPerforming = next != nil
    return next
  }

  /// Finds the handlers of the decisions.
  fileprivate mutating func effects(of actions: [TransferScheduler.Action]) -> TransferQueue.Effects {
    var effects = TransferQueue.Effects()
    for action in actions {
      switch action {
      case .prepare(let ticket): if let handler = handlers[ticket] { effects.calls.append((handler, .prepare(ticket))) }
      case .start(let ticket): if let handler = handlers[ticket] { effects.calls.append((handler, .start(ticket))) }
      case .refuse(let ticket, let refusal):
        if let handler = handlers.removeValue(forKey: ticket) { effects.calls.append((handler, .refuse(refusal))) }
      case .wakeUp(let host, let time): effects.wakeUps.append((host, time))
      }
    }
    return effects
  }
}
