package import Foundation
internal import Synchronization

/// One caller of a downloader or a pipeline. Waits for milestones, holds its place among the callers of a job, and gets
/// progress and exactly one end.
package final class Caller<Value: Sendable>: Sendable {
  /// The place where the closures are called.
  package enum Place: Sendable {
    case queue(DispatchQueue)
    /// The thread that makes progress or ends the request. It may be one that renders, reads the cache or cancels.
    case sameThread
  }

  package let inbox: Inbox<Value>
  /// Holds the place in the table of jobs.
  package let slot: TaskHandleSlot
  /// The number of calls to `cancelAll()` before this caller was created.
  package let epoch: Int
  private let room: WaitingRoom<Value>
  private let place: Place
  private let priority: Mutex<CallerPriority>
  private let deadline = Deadline()
  /// The work that begins when the milestones are reached. Dropped at the end, with what it captured.
  private let work = Mutex<(@Sendable () -> Void)?>(nil)

  /// - Parameter room: keeps the caller while it waits. Its group is entered until the completion has returned.
  package init(
    priority: Priority, in room: WaitingRoom<Value>, on place: Place, progress: DownloadProgress.Handler?,
    completion: @escaping Inbox<Value>.Completion
  ) {
    inbox = Inbox(progress: progress, completion: completion)
    slot = TaskHandleSlot(priority: priority)
    self.priority = Mutex(CallerPriority(priority))
    self.room = room
    self.place = place
    epoch = room.epoch
    room.group.enter()
  }

  // MARK: Waiting

  /// Calls `begin` on `queue` when all `milestones` are reached, unless the caller has its end by then.
  package func wait(for milestones: [Milestone], on queue: DispatchQueue, _ begin: @escaping @Sendable () -> Void) {
    work.withLock { $0 = begin }
    wait(for: milestones)
    guard room.add(self) else { return cancel() }
    // Thread A is here while thread B cancels. B marks the slot and then removes the caller from the room; A adds the
    // caller and then checks the mark. So at least one of them removes it.
    if slot.isCancelled { leave() }
    Milestone.whenAllReached(milestones, on: queue) { [self] in
      stopWaiting()
      guard room.remove(self) else { return }
      work.withLock { $0.take() }?()
    }
  }

  /// Ends the request with `timeout_total` after `limit`, unless it has ended by then.
  ///
  /// - Parameters:
  ///   - after: runs a closure after a pause.
  ///   - describe: adds to the failure what is known by then. Default: nothing.
  package func limitTime(
    to limit: Duration, after: (Duration, @escaping @Sendable () -> Void) -> Task<Void, Never>,
    describe: @escaping @Sendable (inout FetchFailure) -> Void = { _ in }
  ) {
    deadline.set(to: limit, after: after) { [weak self] in
      guard let self else { return }
      var failure = FetchFailure(pastDeadline: limit)
      describe(&failure)
      end(.failure(failure))
      leave()
    }
  }

  /// Makes `cancelled` the end, unless the completion is being called already.
  package func cancel() {
    // First the end, then the place: a success that is being delivered by another thread becomes `cancelled`.
    post(inbox.cancel())
    leave()
  }

  /// Gives up the place of a caller that has its end.
  private func leave() {
    slot.cancel()
    stopWaiting(forever: true)
    _ = room.remove(self)
    // Dropped here, outside the lock: what the closure captured may run code when it is released.
    _ = work.withLock { $0.take() }
  }

  // MARK: Deliveries

  /// Adds progress.
  package func offer(_ progress: DownloadProgress) { post(inbox.offer(progress)) }

  /// Sets the end. Only the first one counts.
  ///
  /// - Parameter complete: the progress at the end, delivered before it. Default: none.
  package func end(_ result: Result<Value, FetchFailure>, complete: DownloadProgress? = nil) {
    post(inbox.end(result, complete: complete))
  }

  private func post(_ needsDelivery: Bool) {
    guard needsDelivery else { return }
    switch place {
    case .queue(let queue): queue.async { [self] in deliver() }
    case .sameThread: deliver()
    }
  }

  private func deliver() {
    guard inbox.deliver() else { return }
    deadline.cancel()
    room.group.leave()
  }
}

extension Caller: PrioritizedCaller {
  package func withPriority<Result: Sendable>(_ body: (inout CallerPriority) -> Result) -> Result {
    priority.withLock { body(&$0) }
  }

  package func follow(_ priority: Priority) { slot.setPriority(priority) }
}

/// The callers of one downloader or pipeline that wait for milestones. They have no job yet, because their request may
/// not be known, or already be invalid or in memory.
package final class WaitingRoom<Value: Sendable>: Sendable {
  /// Entered for each caller until its completion has returned.
  package let group = DispatchGroup()
  private let callers = Mutex<[ObjectIdentifier: Caller<Value>]>([:])
  /// Changed under the lock.
  private let cancellations = Atomic(0)

  package init() {}

  /// The number of calls to ``cancelAll()``.
  package var epoch: Int { cancellations.load(ordering: .acquiring) }

  /// The number of callers that wait.
  var count: Int { callers.withLock { $0.count } }

  /// Keeps a caller. Returns false if everything was canceled since the caller came.
  fileprivate func add(_ caller: Caller<Value>) -> Bool {
    callers.withLock { callers in
      guard caller.epoch == epoch else { return false }
      callers[ObjectIdentifier(caller)] = caller
      return true
    }
  }

  /// Returns false if the caller no longer waits.
  fileprivate func remove(_ caller: Caller<Value>) -> Bool {
    callers.withLock { $0.removeValue(forKey: ObjectIdentifier(caller)) } != nil
  }

  /// Cancels all callers that wait. One that came before and joins a job later must find that the epoch has changed.
  package func cancelAll() {
    let waiting = callers.withLock { callers in
      cancellations.add(1, ordering: .releasing)
      defer { callers = [:] }
      return Array(callers.values)
    }
    for caller in waiting { caller.cancel() }
  }

  /// Cancels the callers that wait and have paused.
  func cancelPaused() {
    for caller in callers.withLock({ Array($0.values) }) where caller.slot.isPaused { caller.cancel() }
  }
}

/// A caller that passes its priority to the callers whose end it waits for: a ``Caller`` of any value, because
/// downloads and thumbnails wait for one another.
package protocol PrioritizedCaller: AnyObject, Sendable {
  /// Runs `body` with the priority, under a lock.
  func withPriority<Result: Sendable>(_ body: (inout CallerPriority) -> Result) -> Result
  /// Passes a new priority on to the work of this caller.
  func follow(_ priority: Priority)
}

extension PrioritizedCaller {
  /// Sets the caller's own priority, on behalf of its token.
  package func setPriority(_ priority: Priority) { update { $0.choose(priority) }.count() }

  /// Sets the caller's own priority to that of its request, unless its token has chosen another one.
  func adopt(_ priority: Priority) { update { $0.adopt(priority) }.count() }

  /// Passes the priority of this caller, now and after each change, to the callers that `milestones` belong to. Does
  /// nothing if this caller has its end.
  package func wait(for milestones: [Milestone]) {
    let callers = milestones.compactMap(\.caller)
    guard !callers.isEmpty else { return }
    withPriority { priority in
      priority.wait(for: callers).map { PriorityChange(of: $0, from: nil, to: priority.current) }
    }.count()
  }

  /// No longer passes the priority of this caller to others.
  ///
  /// - Parameter forever: True if the caller has its end. Default false: it begins, or waits for others from now on.
  package func stopWaiting(forever: Bool = false) {
    withPriority { priority in
      priority.stopWaiting(forever: forever).map { PriorityChange(of: $0, from: priority.current, to: nil) }
    }.count()
  }

  /// Changes the priority. Returns the changes that the callers which this one waits for must count.
  fileprivate func update(_ change: (inout CallerPriority) -> Void) -> [PriorityChange] {
    let (new, changes) = withPriority { priority -> (Priority?, [PriorityChange]) in
      let old = priority.current
      change(&priority)
      let new = priority.current
      guard old != new else { return (nil, []) }
      return (new, priority.dependedOn.map { PriorityChange(of: $0, from: old, to: new) })
    }
    if let new { passOn(new) }
    return changes
  }

  /// Thread A may pass on an older priority after thread B has passed on a newer one. Then A looks again, finds the
  /// newer one and passes that on.
  private func passOn(_ priority: Priority) {
    var (known, latest) = (nil as Priority?, priority)
    while known != latest {
      follow(latest)
      known = latest
      latest = withPriority { $0.current }
    }
  }
}

/// A change of the priority with which someone waits for a caller.
private struct PriorityChange: Sendable {
  let caller: any PrioritizedCaller
  let old: Priority?
  let new: Priority?

  init(of caller: any PrioritizedCaller, from old: Priority?, to new: Priority?) {
    self.caller = caller
    self.old = old
    self.new = new
  }
}

extension [PriorityChange] {
  /// Reports the changes to their callers, and what follows from them to those that these wait for, and so on. It is a
  /// loop, because a chain of callers can be longer than a stack.
  fileprivate func count() {
    var changes = self
    while let change = changes.popLast() { changes += change.caller.update { $0.count(change.old, to: change.new) } }
  }
}

/// The priority of one caller. A plain value.
///
/// A caller is at least as urgent as the most urgent of those that wait for its end.
package struct CallerPriority: Sendable {
  private var own: Priority
  /// True if the token has chosen the caller's own priority.
  private var isChosen = false
  /// The number of callers that wait for the end of this one, by priority. Empty before the first one.
  private var waiting: [Int] = []
  /// The callers whose end this one waits for. Weak: waiting for a caller must not keep it.
  private var dependencies: [WeakCaller] = []
  /// True if this caller has its end.
  private var isOver = false

  package init(_ own: Priority = .normal) { self.own = own }

  /// The priority that counts.
  var current: Priority {
    guard !waiting.isEmpty, let highest = Priority.allCases.last(where: { waiting[$0.rawValue] > 0 }) else {
      return own
    }
    return max(own, highest)
  }

  /// Sets the caller's own priority, on behalf of its token.
  mutating func choose(_ priority: Priority) {
    own = priority
    isChosen = true
  }

  /// Sets the caller's own priority to that of its request, unless its token has chosen another one.
  mutating func adopt(_ priority: Priority) {
    if !isChosen { own = priority }
  }

  // MARK: Those that wait for this caller

  /// Records that a caller which waits for this one has changed its priority, from nil if it begins to wait, or to nil
  /// if it no longer waits. Changes may arrive in any order: they are only counted.
  mutating func count(_ old: Priority?, to new: Priority?) {
    if waiting.isEmpty { waiting = Priority.allCases.map { _ in 0 } }
    if let old { waiting[old.rawValue] -= 1 }
    if let new { waiting[new.rawValue] += 1 }
  }

  // MARK: Those that this caller waits for

  /// Begins to wait. Returns the callers that must count this one; none if this one has its end.
  mutating func wait(for callers: [any PrioritizedCaller]) -> [any PrioritizedCaller] {
    guard !isOver else { return [] }
    dependencies = callers.map { WeakCaller(caller: $0) }
    return callers
  }

  /// Ends the wait. Returns the callers that count this one.
  ///
  /// - Parameter forever: True if the caller has its end, so that it must not begin to wait anymore.
  mutating func stopWaiting(forever: Bool) -> [any PrioritizedCaller] {
    isOver = isOver || forever
    defer { dependencies = [] }
    return dependedOn
  }

  /// The callers that count this one.
  var dependedOn: [any PrioritizedCaller] { dependencies.compactMap(\.caller) }
}

/// A weak reference to a caller.
struct WeakCaller: Sendable {
  weak var caller: (any PrioritizedCaller)?
}
