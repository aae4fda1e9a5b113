internal import Foundation
internal import Synchronization

/// Limits the bytes that are in memory and not yet rendered. Above the limit, no transfer starts and no original is
/// read.
final class ByteBudget: Sendable {
  typealias Work = @Sendable () -> Void

  fileprivate struct Waiting: Sendable {
    let bytes: Int
    let work: Work
  }

  fileprivate struct State {
    let limit: Int
    var held = 0
    /// True between ``suspend()`` and ``resume()``.
    var isSuspended = false
    /// The work that waits for room.
    var waiting = PriorityLine<Waiting>()

    /// True if no transfer may start and no original may be read.
    var isOver: Bool { isSuspended || held > limit }
  }

  private let state: Mutex<State>
  private let setSuspended: @Sendable (Bool) -> Void
  /// Calls `setSuspended` in order, so that the latest state is applied last.
  private let queue = DispatchQueue(label: "thumbs.budget")

  /// - Parameters:
  ///   - limit: at least 0.
  ///   - setSuspended: suspends and resumes the start of transfers.
  init(limit: Int, setSuspended: @escaping @Sendable (Bool) -> Void) {
    state = Mutex(State(limit: max(0, limit)))
    self.setSuspended = setSuspended
  }

  // A pipeline that is released while it is suspended must not hold up the others that share its downloader.
  deinit { setSuspended(false) }

  /// True between ``suspend()`` and ``resume()``.
  var isSuspended: Bool { state.withLock { $0.isSuspended } }

  /// The number of pieces of work that wait for room.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Adds bytes that are in memory and wait to be rendered.
  func hold(_ bytes: Int) { _ = change { $0.held += bytes } }

  /// Adds the bytes of a file to be read, as soon as the total is within the limit, so that at most one file exceeds
  /// it. Until then the work waits, behind earlier work of the same or a higher priority. Returns a handle that can
  /// cancel the work and change its priority while it waits.
  ///
  /// - Parameters:
  ///   - bytes: the size of the file.
  ///   - priority: the order among the work that waits.
  ///   - work: called once, after the bytes have been added, unless it is canceled before: on this thread if there is
  ///     room now, otherwise on the thread that makes room. Must not block.
  @discardableResult
  func hold(_ bytes: Int, whenThereIsRoom priority: Priority, _ work: @escaping Work) -> WorkHandle {
    let (ticket, admitted) = change { state in state.waiting.append(Waiting(bytes: bytes, work: work), priority) }
    for work in admitted { work() }
    return WorkHandle { [self] in
      // Dropped here, outside the lock: what the work captured may run code when it is released.
      let removed = state.withLock { $0.waiting.remove(ticket) }
      _ = removed
    } setPriority: { [self] priority in
      state.withLock { $0.waiting.change(ticket, to: priority) }
    }
  }

  /// Subtracts bytes that have been rendered.
  func release(_ bytes: Int) {
    for work in change({ $0.held -= bytes }).admitted { work() }
  }

  /// Acts as if there were no room, until ``resume()``.
  func suspend() { _ = change { $0.isSuspended = true } }

  /// Ends a suspension, if there is one.
  func resume() {
    for work in change({ $0.isSuspended = false }).admitted { work() }
  }

  /// Returns the result of `change`, and the work for which there is room now.
  private func change<Result: Sendable>(
    _ change: (inout State) -> Result
  ) -> (result: Result, admitted: [Work]) {
    let (result, admitted, isCrossed) = state.withLock { state in
      let wasOver = state.isOver
      let result = change(&state)
      let admitted = state.admit()
      return (result, admitted, wasOver != state.isOver)
    }
    if isCrossed { queue.async { [self] in setSuspended(state.withLock { $0.isOver }) } }
    return (result, admitted)
  }
}

extension ByteBudget.State {
  fileprivate mutating func admit() -> [ByteBudget.Work] {
    var admitted: [ByteBudget.Work] = []
    while !isOver, let next = waiting.popFirst() {
      held += next.bytes
      admitted.append(next.work)
    }
    return admitted
  }
}
