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
