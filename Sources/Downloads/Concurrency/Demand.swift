/// The demand of one caller.
package struct Demand: Equatable, Sendable {
  package var priority: Priority
  /// True if the caller does not need the result for now.
  package var isPaused: Bool

  package init(priority: Priority = .normal, isPaused: Bool = false) {
    self.priority = priority
    self.isPaused = isPaused
  }
}

extension Demand {
  /// The demand of a caller who wants what all callers of `joint` want.
  init(_ joint: JointDemand) { self.init(priority: joint.priority, isPaused: joint.isPaused) }
}

/// The combined demand of all callers of one job.
package struct JointDemand: Equatable, Sendable {
  /// The highest priority among the callers.
  var priority = Priority.normal
  /// True if all callers have paused.
  var isPaused = false
  /// Grows with each change. If two changes arrive in the wrong order, the one with the higher revision counts.
  var revision: UInt64 = 0
}
