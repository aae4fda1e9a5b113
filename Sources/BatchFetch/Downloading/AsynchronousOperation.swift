internal import Foundation
internal import Synchronization

/// An operation that is done when ``finish()`` says so, not when `start` returns.
///
/// Foundation's `Operation` is `@unchecked Sendable`, and its subclasses must repeat that; everything added here and
/// in the subclasses is constant or inside a `Mutex`.
class AsynchronousOperation: Operation, @unchecked Sendable {
  enum Phase: Comparable {
    case waiting, executing, finishing, finished
  }

  private let phase = Mutex(Phase.waiting)

  /// Always true: `start` returns before the work is done.
  final override var isAsynchronous: Bool { true }
  /// True from the start to the end of the work.
  final override var isExecuting: Bool { [.executing, .finishing].contains(phase.withLock { $0 }) }
  /// True after the work.
  final override var isFinished: Bool { phase.withLock { $0 == .finished } }

  /// Called by the queue. A queue starts cancelled operations too: they must finish to leave it.
  final override func start() {
    willChangeValue(for: \.isExecuting)
    let isFirst = advance(from: .waiting, to: .executing)
    didChangeValue(for: \.isExecuting)
    guard isFirst else { return }
    if isCancelled {
      skip()
    } else {
      execute()
    }
  }

  /// Begins the work. It ends, now or later, with ``finish()``.
  func execute() { finish() }

  /// Takes the place of ``execute()`` when the operation was cancelled before it started.
  func skip() { finish() }

  /// Ends the operation. Only the first call after the start counts.
  final func finish() {
    // Claimed first: observers must hear of one end, however many callers race to it.
    guard advance(from: .executing, to: .finishing) else { return }
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    _ = advance(from: .finishing, to: .finished)
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
    didFinish()
  }

  /// Called once, after the end.
  func didFinish() {}

  private func advance(from old: Phase, to new: Phase) -> Bool {
    phase.withLock { phase in
      guard phase == old else { return false }
      phase = new
      return true
    }
  }
}
