public import Foundation
internal import Synchronization

/// A request as an `Operation`. The base of ``DownloadOperation`` and `ThumbnailOperation`, which share its life
/// cycle: the operation begins its request when a queue starts it, and finishes when the request has ended. No other
/// class can be derived, because no initializer is public.
///
/// Foundation declares `Operation` as `@unchecked Sendable`, and subclasses must repeat that. It holds here: everything
/// that this class adds is constant or inside a `Mutex`.
open class FetchOperation<Value: Sendable>: AsynchronousOperation, @unchecked Sendable {
  /// Begins the request.
  package typealias Begin =
    @Sendable (
      _ demand: Demand, _ progress: @escaping DownloadProgress.Handler,
      _ completion: @escaping @Sendable (Result<Value, FetchFailure>) -> Void
    ) -> WorkHandle

  private struct State {
    /// Nil once the request has begun.
    var begin: Begin?
    /// Nil once the operation has ended: an operation that lives on does not keep what the closure captured.
    var onProgress: DownloadProgress.Handler?
    var progress: DownloadProgress?
    var result: Result<Value, FetchFailure>?
  }

  let slot: TaskHandleSlot
  private let state: Mutex<State>

  package init(priority: Priority, progress: DownloadProgress.Handler?, begin: @escaping Begin) {
    slot = TaskHandleSlot(priority: priority)
    state = Mutex(State(begin: begin, onProgress: progress))
    super.init()
    queuePriority = Operation.QueuePriority(priority)
  }

  /// The outcome; nil until the operation has finished.
  public final var result: Result<Value, FetchFailure>? { state.withLock { $0.result } }

  /// The latest progress of the download; nil until bytes were received.
  public final var progress: DownloadProgress? { state.withLock { $0.progress } }

  /// The priority, in the queue of this operation and in all queues that its request passes through. `veryLow` counts
  /// as ``Priority/low`` there, and `veryHigh` as ``Priority/high``.
  public final override var queuePriority: Operation.QueuePriority {
    didSet { slot.setPriority(Priority(queuePriority)) }
  }

  /// Cancels the request. The operation finishes with `cancelled`, unless it has an outcome already. The download goes
  /// on if other callers need it.
  public final override func cancel() {
    super.cancel()
    slot.cancel()
  }

  /// Pauses the download for this operation, as ``DownloadToken/pause()`` does. The operation keeps its place in its
  /// own queue. If it is paused before it starts, it sends no request before ``resume()``.
  public final func pause() { slot.setPaused(true) }

  /// Resumes the download.
  public final func resume() { slot.setPaused(false) }

  final override func execute() {
    guard let begin = state.withLock({ $0.begin.take() }) else { return end(.failure(.cancelled)) }
    slot.run { demand in
      begin(demand) { [self] in
        report($0)
      } _: { [self] in
        end($0)
      }
    }
  }

  final override func skip() { end(.failure(.cancelled)) }

  private func report(_ progress: DownloadProgress) {
    state.withLock { state in
      state.progress = progress
      return state.onProgress
    }?(progress)
  }

  private func end(_ result: Result<Value, FetchFailure>) {
    let closures = state.withLock { state in
      state.result = result
      return (state.begin.take(), state.onProgress.take())
    }
    // Dropped here, outside the lock: what the closures captured may run code when it is released.
    _ = closures
    slot.end()
    finish()
  }

  /// Drops the completion block, as Foundation does on Apple's systems but not on Linux: the block may have captured
  /// the owner of the operation. The thread that calls the block holds its own reference.
  final override func didFinish() {
    // Foundation replaces the block under a lock of the operation. What the block captured must not be released there:
    // a `deinit` that reads the operation would wait for that lock forever.
    let block = completionBlock
    completionBlock = nil
    withExtendedLifetime(block) {}
  }
}

extension Priority {
  /// The counterpart of `priority`.
  init(_ priority: Operation.QueuePriority) {
    switch priority {
    case .veryLow, .low: self = .low
    case .high, .veryHigh: self = .high
    default: self = .normal
    }
  }
}

extension Operation.QueuePriority {
  /// The counterpart of `priority`.
  init(_ priority: Priority) {
    self =
      switch priority {
      case .low: .low
      case .normal: .normal
      case .high: .high
      }
  }
}

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
