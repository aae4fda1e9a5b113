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
