/// A caller that passes its priority to the callers whose end it waits for.
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
