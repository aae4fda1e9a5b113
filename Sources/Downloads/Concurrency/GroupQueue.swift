internal import Foundation
public import Synchronization

// Inlinable for the reason given in InFlight.swift.

/// Handles elements in groups on a few threads: the highest priority first, and within a priority the oldest element.
/// An element that waits can change its priority and can be canceled.
///
/// A group is larger the more elements wait, so that what a group costs once is shared, and a single element does not
/// wait for others.
@usableFromInline package final class GroupQueue<Element: Sendable>: Sendable {
  @usableFromInline struct Waiting: Sendable {
    @usableFromInline let element: Element
    @usableFromInline let onCancel: WorkThreads.Work

    @inlinable init(element: Element, onCancel: @escaping WorkThreads.Work) {
      (self.element, self.onCancel) = (element, onCancel)
    }
  }

  @usableFromInline struct State {
    @usableFromInline var waiting = PriorityLine<Waiting>()
    @usableFromInline var threads = 0

    @inlinable init() {}
  }

  @usableFromInline let threads: WorkThreads
  @usableFromInline let groupLimit: Int
  @usableFromInline let handle: @Sendable ([Element]) -> Void
  @usableFromInline let state = Mutex(State())

  /// - Parameters:
  ///   - threads: The threads that call `handle`.
  ///   - groupLimit: The maximum number of elements in a group. Default: 1.
  ///   - handle: Called with one group at a time on each thread. It may block.
  @inlinable package init(_ threads: WorkThreads, groupLimit: Int = 1, handle: @escaping @Sendable ([Element]) -> Void)
  {
    self.threads = threads
    self.groupLimit = groupLimit
    self.handle = handle
  }

  /// The number of elements that wait for a thread.
  @inlinable package var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Adds an element. Returns a handle that can cancel it and change its priority while it waits.
  ///
  /// - Parameters:
  ///   - element: Handled once, unless it is canceled while it waits.
  ///   - priority: The order among the elements that wait. Default: ``Priority/normal``.
  ///   - onCancel: Called if the element is canceled, on the thread that cancels it. Default: nothing.
  @discardableResult
  @inlinable package func append(
    _ element: Element, _ priority: Priority = .normal, onCancel: @escaping WorkThreads.Work = {}
  ) -> WorkHandle {
    let (place, needsThread) = state.withLock { state in
      let place = state.waiting.append(Waiting(element: element, onCancel: onCancel), priority)
      guard state.threads < threads.count else { return (place, false) }
      state.threads += 1
      return (place, true)
    }
    if needsThread { threads.spawn { [self] in drain() } }
    return WorkHandle { [self] in
      state.withLock { $0.waiting.remove(place) }?.onCancel()
    } setPriority: { [self] priority in
      state.withLock { $0.waiting.change(place, to: priority) }
    }
  }

  @inlinable func drain() {
    let begin = threads.turn.map { _ in ContinuousClock.now }
    while let group = nextGroup() {
      handle(group)
      if let begin, let turn = threads.turn, begin.duration(to: .now) >= turn {
        return threads.spawn { [self] in drain() }
      }
    }
  }

  /// Removes and returns the next group: the share of one thread. If no element waits, returns nil and counts the
  /// thread as ended.
  @inlinable func nextGroup() -> [Element]? {
    state.withLock { state in
      let count = min(groupLimit, max(1, state.waiting.count / threads.count))
      let group = (0..<count).compactMap { _ in state.waiting.popFirst()?.element }
      if group.isEmpty { state.threads -= 1 }
      return group.isEmpty ? nil : group
    }
  }
}
