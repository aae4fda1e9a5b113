internal import Synchronization

/// Holds the handle of the running piece of work, one piece after another.
///
/// The handle of a piece becomes known only after the piece has begun, and perhaps after it has ended. Thread A begins
/// a download, thread B cancels it, and only then does thread A get the handle: without this type the cancel would be
/// lost. The slot remembers such requests and passes them on when the handle arrives. It drops the handle when the
/// piece ends, so that a finished piece is not kept alive, nor anything that its closures captured.
///
/// ```swift
/// let slot = TaskHandleSlot()  // usually a property
/// slot.run { demand in
///   request.priority = demand.priority
///   let token = downloader.download(request) { result in
///     completion(result)
///   }
///   return WorkHandle(token)
/// }
/// slot.cancel()
/// slot.end()  // usually in the completion
/// ```
package struct TaskHandleSlot: ~Copyable, Sendable {
  /// One piece of work.
  struct Round: Equatable, Sendable {
    fileprivate var number = 0
  }

  // Not private: the compiler of Swift 6.3 emits invalid code for a private type inside a noncopyable one.
  struct State {
    var round = Round()
    var isRunning = false
    /// True if the current piece was canceled.
    var isRoundCancelled = false
    /// True if everything was canceled, later pieces included.
    var isCancelled = false
    /// The demand that the current piece must follow, and that later pieces begin with.
    var demand: Demand
    var handle: WorkHandle?
  }

  let state: Mutex<State>

  /// - Parameter priority: The priority of the first piece.
  package init(priority: Priority = .normal) {
    state = Mutex(State(demand: Demand(priority: priority)))
  }

  /// True after ``cancel()``.
  package var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// True if the current piece is paused, and those that begin later.
  var isPaused: Bool { state.withLock { $0.demand.isPaused } }

  /// Marks the beginning of a piece.
  func begin() -> Round { beginWithDemand().round }

  private func beginWithDemand() -> (round: Round, demand: Demand) {
    state.withLock { state in
      state.round.number += 1
      state.isRunning = true
      state.isRoundCancelled = false
      state.handle = nil
      return (state.round, state.demand)
    }
  }

  /// Stores the handle of a piece, unless that piece has ended, and passes on the requests that came after it began.
  ///
  /// - Parameter demand: The demand that the piece began with; nil if it follows none.
  func fill(_ round: Round, with handle: WorkHandle, begunWith demand: Demand? = nil) {
    var known = demand
    while let missed = store(handle, of: round, knowing: known) {
      if missed.isCancelled || missed.isRoundCancelled { return handle.cancel() }
      if known?.priority != missed.demand.priority { handle.setPriority(missed.demand.priority) }
      if known?.isPaused != missed.demand.isPaused { handle.setPaused(missed.demand.isPaused) }
      known = missed.demand
    }
  }

  /// Stores the handle if its piece knows the latest demand. Otherwise returns what it missed.
  ///
  /// Thread A passes on a pause while thread B resumes. If B found the handle already, its resume could overtake the
  /// pause, and the piece would stay paused for good. So the handle is stored only when nothing is left to pass on.
  private func store(_ handle: WorkHandle, of round: Round, knowing demand: Demand?) -> State? {
    state.withLock { state in
      guard state.isRunning, round == state.round else { return nil }
      let isCancelled = state.isCancelled || state.isRoundCancelled
      if isCancelled || (demand != nil && demand != state.demand) { return state }
      state.handle = handle
      return nil
    }
  }

  /// Begins a piece and stores its handle.
  ///
  /// - Parameter work: Begins the piece with the given demand and returns its handle. The piece may end, and call
  ///   ``end()``, before that.
  package func run(_ work: (Demand) -> WorkHandle) {
    let (round, demand) = beginWithDemand()
    fill(round, with: work(demand), begunWith: demand)
  }

  /// Marks the end of the current piece, and drops its handle.
  package func end() {
    // The handle may be the last reference to something that runs code when it is released. So it is released after
    // unlocking.
    let handle = state.withLock { state in
      state.isRunning = false
      return state.handle.take()
    }
    _ = handle
  }

  /// Cancels one piece, unless another one has begun by now.
  func cancel(_ round: Round) {
    state.withLock { state in
      guard round == state.round else { return nil as WorkHandle? }
      state.isRoundCancelled = true
      return state.handle
    }?.cancel()
  }

  /// Cancels the current piece, and every piece that begins later.
  package func cancel() {
    state.withLock { state in
      state.isCancelled = true
      return state.handle
    }?.cancel()
  }

  /// Changes the priority of the current piece, and of every piece that begins later.
  package func setPriority(_ priority: Priority) {
    state.withLock { state in
      state.demand.priority = priority
      return state.handle
    }?.setPriority(priority)
  }

  /// Pauses or resumes the current piece, and every piece that begins later.
  package func setPaused(_ isPaused: Bool) {
    state.withLock { state in
      state.demand.isPaused = isPaused
      return state.handle
    }?.setPaused(isPaused)
  }
}

/// Controls work that is running.
@usableFromInline package struct WorkHandle: Sendable {
  /// Cancels the work.
  package let cancel: @Sendable () -> Void
  /// Changes the priority of the work.
  package let setPriority: @Sendable (Priority) -> Void
  /// Pauses or resumes the work.
  package let setPaused: @Sendable (Bool) -> Void

  /// Creates a handle from three closures. By default, the priority and pauses change nothing.
  @usableFromInline package init(
    cancel: @escaping @Sendable () -> Void, setPriority: @escaping @Sendable (Priority) -> Void = { _ in },
    setPaused: @escaping @Sendable (Bool) -> Void = { _ in }
  ) {
    self.cancel = cancel
    self.setPriority = setPriority
    self.setPaused = setPaused
  }
}

extension WorkHandle {
  /// The handle of a download.
  init(_ token: DownloadToken) {
    self.init(cancel: token.cancel, setPriority: token.setPriority) { $0 ? token.pause() : token.resume() }
  }
}

/// Turns a call with a completion handler into an `async` call, and passes on the cancellation of its task.
package final class CancellableCall: Sendable {
  private let slot = TaskHandleSlot()

  /// Returns the value that `start` passes to its completion.
  ///
  /// - Parameter start: Called at once. Returns the handle of the work that it began.
  package static func result<Value: Sendable>(
    _ start: (_ completion: @escaping @Sendable (Value) -> Void) -> WorkHandle
  ) async -> Value {
    let call = CancellableCall()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let round = call.slot.begin()
        call.slot.fill(round, with: start { continuation.resume(returning: $0) })
      }
    } onCancel: {
      call.slot.cancel()
    }
  }
}
