internal import Foundation
internal import Synchronization

/// Bounds the bytes that are in memory and not yet rendered: above the limit no further transfer starts, and no further
/// file is read.
final class ByteBudget: Sendable {
  typealias Work = @Sendable () -> Void

  fileprivate struct Waiting {
    let bytes: Int
    let work: Work
  }

  fileprivate struct State {
    var held = 0
    /// Those who wait to hold more, by priority.
    var waiting = ThumbnailRequest.Priority.allCases.map { _ in FIFO<Waiting>() }
  }

  private let limit: Int
  private let state = Mutex(State())
  private let setSuspended: @Sendable (Bool) -> Void
  /// Applies changes one after the other: the last one must not be overtaken by the one before.
  private let queue = DispatchQueue(label: "thumbs.budget")

  /// - Parameters:
  ///   - limit: at least 0.
  ///   - setSuspended: stops and resumes the start of transfers.
  init(limit: Int, setSuspended: @escaping @Sendable (Bool) -> Void) {
    self.limit = max(0, limit)
    self.setSuspended = setSuspended
  }

  /// Those who wait for room.
  var waitingCount: Int { state.withLock { $0.waiting.reduce(0) { $0 + $1.count } } }

  /// These bytes are in memory, and wait to be rendered.
  func hold(_ bytes: Int) { _ = change { $0.held += bytes } }

  /// Holds the bytes of something that is to be read, as soon as what is held is within the limit: so it is exceeded by
  /// no more than one such thing. Until then the caller waits, behind those of its priority and above who came before.
  ///
  /// - Parameter work: called once, when the bytes are held; where that is now, on this thread, else on the one that
  ///   released others. Must not block.
  func hold(_ bytes: Int, whenThereIsRoom priority: ThumbnailRequest.Priority, _ work: @escaping Work) {
    let admitted = change { state in
      state.waiting[priority.rawValue].append(Waiting(bytes: bytes, work: work))
    }
    for work in admitted { work() }
  }

  /// They wait no longer.
  func release(_ bytes: Int) {
    for work in change({ $0.held -= bytes }) { work() }
  }

  /// The result is the work of those for whom there is room now.
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
