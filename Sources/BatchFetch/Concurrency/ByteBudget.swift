internal import Foundation
internal import Synchronization

/// Limits the bytes that are in memory and not yet rendered. Above the limit, no transfer starts and no original is
/// read.
final class ByteBudget: Sendable {
  typealias Work = @Sendable () -> Void

  fileprivate struct Waiting {
    let bytes: Int
    let work: Work
  }

  fileprivate struct State {
    var held = 0
    /// The work that waits for room, by priority.
    var waiting = Priority.allCases.map { _ in FIFO<Waiting>() }
  }

  private let limit: Int
  private let state = Mutex(State())
  private let setSuspended: @Sendable (Bool) -> Void
  /// Calls `setSuspended` in order, so that the latest state is applied last.
  private let queue = DispatchQueue(label: "thumbs.budget")

  /// - Parameters:
  ///   - limit: at least 0.
  ///   - setSuspended: suspends and resumes the start of transfers.
  init(limit: Int, setSuspended: @escaping @Sendable (Bool) -> Void) {
    self.limit = max(0, limit)
    self.setSuspended = setSuspended
  }

  /// The number of pieces of work that wait for room.
  var waitingCount: Int { state.withLock { $0.waiting.reduce(0) { $0 + $1.count } } }

  /// Adds bytes that are in memory and wait to be rendered.
  func hold(_ bytes: Int) { _ = change { $0.held += bytes } }

  /// Adds the bytes of a file to be read, as soon as the total is within the limit, so that at most one file exceeds
  /// it. Until then the work waits, behind earlier work of the same or a higher priority.
  ///
  /// - Parameter work: called once, after the bytes have been added: on this thread if there is room now, otherwise on
  ///   the thread that makes room. Must not block.
  func hold(_ bytes: Int, whenThereIsRoom priority: Priority, _ work: @escaping Work) {
    let admitted = change { state in
      state.waiting[priority.rawValue].append(Waiting(bytes: bytes, work: work))
    }
    for work in admitted { work() }
  }

  /// Subtracts bytes that have been rendered.
  func release(_ bytes: Int) {
    for work in change({ $0.held -= bytes }) { work() }
  }

  /// Returns the work for which there is room now.
  private func change(_ change: (inout State) -> Void) -> [Work] {
    let (admitted, isCrossed) = state.withLock { state in
      let wasOver = state.held > limit
      change(&state)
      let admitted = state.admit(limit: limit)
      return (admitted, wasOver != (state.held > limit))
    }
    if isCrossed { queue.async { [self] in setSuspended(state.withLock { $0.held > limit }) } }
    return admitted
  }
}

extension ByteBudget.State {
  fileprivate mutating func admit(limit: Int) -> [ByteBudget.Work] {
    var admitted: [ByteBudget.Work] = []
    while held <= limit, let index = waiting.lastIndex(where: { $0.count > 0 }), let next = waiting[index].popFirst() {
      held += next.bytes
      admitted.append(next.work)
    }
    return admitted
  }
}
