internal import Foundation
public import Synchronization

/// Runs pieces of work on a few threads: the highest priority first, and within a priority the oldest piece. Work that
/// waits can change its priority and can be canceled.
///
/// It costs less than an operation queue: a thread that has finished one piece takes the next, and no thread is woken
/// for it. Also, work that is canceled leaves the queue at once, whereas an operation stays until its turn comes.
package final class WorkQueue: Sendable {
  package typealias Work = WorkThreads.Work

  private let pieces: BatchingQueue<Work>

  package init(_ threads: WorkThreads) {
    pieces = BatchingQueue(threads) { pieces in for piece in pieces { piece() } }
  }

  /// Creates a queue that uses at most `width` threads of the system's dispatch queues.
  package convenience init(label: String, width: Int) { self.init(.dispatched(label, count: width)) }

  /// The number of pieces that wait for a thread.
  package var waitingCount: Int { pieces.waitingCount }

  /// Runs `work` when a thread is free. Returns a handle that can cancel the work and change its priority until then.
  ///
  /// - Parameters:
  ///   - priority: The order among the pieces that wait. Default: ``Priority/normal``.
  ///   - onCancel: Called instead of `work`, on the thread that cancels it. Default: nothing.
  ///   - work: Called once, unless it is canceled while it waits.
  @discardableResult
  package func async(
    _ priority: Priority = .normal, onCancel: @escaping Work = {}, _ work: @escaping Work
  ) -> WorkHandle {
    pieces.append(work, priority, onCancel: onCancel)
  }
}

// Inlinable for the reason given in JobTable.swift.

/// Handles elements in groups on a few threads: the highest priority first, and within a priority the oldest element.
/// An element that waits can change its priority and can be canceled.
///
/// A group is larger the more elements wait, so that what a group costs once is shared, and a single element does not
/// wait for others.
@usableFromInline package final class BatchingQueue<Element: Sendable>: Sendable {
  @usableFromInline struct Waiting: Sendable {
    @usableFromInline let element: Element
    @usableFromInline let onCancel: WorkThreads.Work

    @inlinable init(element: Element, onCancel: @escaping WorkThreads.Work) {
      (self.element, self.onCancel) = (element, onCancel)
    }
  }

  @usableFromInline struct State {
    @usableFromInline var waiting = PriorityQueue<Waiting>()
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

/// The threads of a queue: how many there are at most, and how one is started. A plain value.
@usableFromInline package struct WorkThreads: Sendable {
  @usableFromInline package typealias Work = @Sendable () -> Void

  /// The maximum number of threads, at least 1.
  @usableFromInline let count: Int
  /// The time after which a thread that has finished a piece ends, and another is started for the next piece. Nil: a
  /// thread ends when no work is left.
  @usableFromInline var turn: Duration?
  /// Runs its argument, once, on a thread that may block.
  @usableFromInline package let spawn: @Sendable (@escaping Work) -> Void

  /// Returns threads of the system's dispatch queues. They are shared fairly: after a millisecond, a thread lets other
  /// queues go first.
  package static func dispatched(_ label: String, count: Int) -> WorkThreads {
    let queue = DispatchQueue(label: label, attributes: .concurrent)
    return WorkThreads(count: count, turn: .milliseconds(1)) { queue.async(execute: $0) }
  }

  /// Returns as many threads as there is work, each of which waits for more for some seconds. Work that takes long, or
  /// waits for another process, keeps no thread from the system's dispatch queues, which have few.
  package static func owned(_ label: String) -> WorkThreads {
    let crew = ThreadCrew(label: label)
    return WorkThreads(count: .max) { crew.run($0) }
  }
}

/// Threads that are kept for some seconds after their work.
private final class ThreadCrew: Sendable {
  /// A thread that waits for work.
  private final class Member: Sendable {
    let wake = DispatchSemaphore(value: 0)
    let work = Mutex<WorkThreads.Work?>(nil)
  }

  private static let patience = DispatchTimeInterval.seconds(5)

  private let label: String
  private let idle = Mutex<[Member]>([])

  init(label: String) { self.label = label }

  /// Runs `work` on a thread that is idle, or on a new one.
  func run(_ work: @escaping WorkThreads.Work) {
    let member = idle.withLock { $0.popLast() } ?? hire()
    member.work.withLock { $0 = work }
    member.wake.signal()
  }

  private func hire() -> Member {
    let member = Member()
    let thread = Thread { [self] in serve(member) }
    thread.name = label
    thread.start()
    return member
  }

  /// The life of one thread: takes work until none has come for a while.
  private func serve(_ member: Member) {
    member.wake.wait()
    repeat {
      member.work.withLock { $0.take() }?()
      idle.withLock { $0.append(member) }
    } while member.wake.wait(timeout: .now() + Self.patience) == .success || !leave(member)
  }

  /// Removes a thread from those that are idle. Returns false if work has come for it by then.
  private func leave(_ member: Member) -> Bool {
    let isIdle = idle.withLock { members in
      members.firstIndex { $0 === member }.map { _ = members.remove(at: $0) } != nil
    }
    // Thread A has taken this thread from the list, and is about to signal it.
    if !isIdle { member.wake.wait() }
    return isIdle
  }
}
