public import Foundation
internal import Synchronization

/// An operation whose work continues after `start()` returns. The base of ``DownloadOperation`` and
/// `ThumbnailOperation`. It is open because that class is in another module; no other class can be derived, because no
/// initializer is public.
///
/// Foundation declares `Operation` as `@unchecked Sendable`, and subclasses must repeat that. It holds here: everything
/// that this class and its subclasses add is constant or inside a `Mutex`.
open class AsynchronousOperation: Operation, @unchecked Sendable {
  private enum Phase {
    case waiting, executing, finishing, finished
  }

  private let phase = Mutex(Phase.waiting)

  override init() {}

  /// Always true: `start()` returns before the work is done.
  public final override var isAsynchronous: Bool { true }
  /// True from the start of the work to its end.
  public final override var isExecuting: Bool { [.executing, .finishing].contains(phase.withLock { $0 }) }
  /// True once the operation has ended, with its work done, failed or canceled.
  public final override var isFinished: Bool { phase.withLock { $0 == .finished } }

  /// Starts the work, or ends the operation at once if it was canceled. An operation queue calls this, for canceled
  /// operations too: they must finish to leave the queue.
  public final override func start() {
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

  /// Begins the work, which must call ``finish()`` when it ends, now or later.
  func execute() { finish() }

  /// Replaces ``execute()`` if the operation was canceled before it started.
  func skip() { finish() }

  /// Ends the operation. Calls before the start and after the first end do nothing.
  final func finish() {
    // Thread A ends the work while thread B cancels it: only one of them may send the notifications, or dependents and
    // the queue would see the operation finish twice. So a thread claims the phase `finishing` first.
    guard advance(from: .executing, to: .finishing) else { return }
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    _ = advance(from: .finishing, to: .finished)
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
    didFinish()
  }

  /// Called once, after the operation has finished.
  func didFinish() {}

  private func advance(from old: Phase, to new: Phase) -> Bool {
    phase.withLock { phase in
      guard phase == old else { return false }
      phase = new
      return true
    }
  }
}
