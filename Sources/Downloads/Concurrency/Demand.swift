/// The demand of one caller.
@usableFromInline package struct Demand: Equatable, Sendable {
  @usableFromInline package var priority: Priority
  /// True if the caller does not need the result for now.
  @usableFromInline package var isPaused: Bool

  @inlinable package init(priority: Priority = .normal, isPaused: Bool = false) {
    self.priority = priority
    self.isPaused = isPaused
  }
}

extension Demand {
  /// The demand of a caller who wants what all callers of `joint` want.
  @inlinable init(_ joint: JointDemand) { self.init(priority: joint.priority, isPaused: joint.isPaused) }
}

/// The combined demand of all callers of one job.
@usableFromInline package struct JointDemand: Equatable, Sendable {
  /// The highest priority among the callers.
  @usableFromInline var priority: Priority
  /// True if all callers have paused.
  @usableFromInline var isPaused: Bool
  /// Grows with each change. If two changes arrive in the wrong order, the one with the higher revision counts.
  @usableFromInline var revision: UInt64

  @inlinable init(priority: Priority = .normal, isPaused: Bool = false, revision: UInt64 = 0) {
    (self.priority, self.isPaused, self.revision) = (priority, isPaused, revision)
  }
}
