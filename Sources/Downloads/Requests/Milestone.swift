package import Foundation
internal import Synchronization

/// An event that happens once, and that requests and downloads can wait for, such as the end of another request.
///
/// ```swift
/// let first = downloader.download(firstRequest) { print("first:", $0) }
/// secondRequest.after = [first.finished]
/// downloader.download(secondRequest) { print("second:", $0) }
/// ```
///
/// A request that waits for the end of another one passes its priority to it: `first` is at least as urgent as
/// `second`, for as long as `second` waits. A milestone that you create belongs to no request, and passes nothing.
///
/// A milestone that is released counts as reached: nobody could reach it anymore, and no request may wait forever.
public final class Milestone: Sendable {
  private struct State {
    var isReached = false
    var waiting: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())
  private let owner: WeakCaller

  /// Creates a milestone that is not reached.
  public convenience init() { self.init(of: nil) }

  /// Creates the end of `caller`. It keeps only a weak reference.
  init(of caller: (any PrioritizedCaller)?) { owner = WeakCaller(caller: caller) }

  /// The caller whose end this is; nil if the milestone belongs to no request, or the caller was released.
  var caller: (any PrioritizedCaller)? { owner.caller }

  deinit { reach() }

  /// Marks the milestone as reached. Further calls do nothing.
  public func reach() {
    let waiting = state.withLock { state in
      state.isReached = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for body in waiting { body() }
  }

  /// Calls `body` once: now if the milestone is reached, otherwise from the call of ``reach()``.
  func whenReached(_ body: @escaping @Sendable () -> Void) {
    let isReached = state.withLock { state in
      if !state.isReached { state.waiting.append(body) }
      return state.isReached
    }
    if isReached { body() }
  }

  /// Calls `body` once, on `queue`, when all milestones are reached.
  package static func whenAllReached(
    _ milestones: [Milestone], on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
  ) {
    let group = DispatchGroup()
    for milestone in milestones {
      group.enter()
      milestone.whenReached { group.leave() }
    }
    group.notify(queue: queue, execute: body)
  }
}
