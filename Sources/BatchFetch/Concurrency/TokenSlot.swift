internal import Synchronization

/// A place for the handle of work that runs, piece after piece.
///
/// The handle of a piece becomes known only after the piece has begun, and perhaps after it has ended. Thread A begins
/// a download, thread B cancels it, and only then does thread A get the handle: without this type the cancel would be
/// lost. The slot remembers what was requested meanwhile and passes it on when the handle arrives. It drops the
/// handle when the piece ends, so that a finished piece is not kept alive, nor anything that its closures captured.
///
/// ```swift
/// let slot = TokenSlot()
/// slot.run { priority in
///   WorkHandle(downloader.download(request) { result in … })
/// }
/// slot.cancel()  // from any thread, at any time
/// ```
struct TokenSlot: ~Copyable, Sendable {
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
    var priority: Priority
    var isPaused = false
    var handle: WorkHandle?
  }

  let state: Mutex<State>

  /// - Parameter priority: The priority of the first piece.
  init(priority: Priority = .normal) {
    state = Mutex(State(priority: priority))
  }

  /// True after ``cancel()``.
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// True if pieces that begin now are paused.
  var isPaused: Bool { state.withLock { $0.isPaused } }

  /// The priority for pieces that begin now.
  var priority: Priority { state.withLock { $0.priority } }

  /// Marks the beginning of a piece.
  func begin() -> Round {
    state.withLock { state in
      state.round.number += 1
      state.isRunning = true
      state.isRoundCancelled = false
      state.handle = nil
      return state.round
    }
  }

  /// Stores the handle of a piece, unless that piece has ended, and passes on what was requested since it began.
  ///
  /// - Parameter priority: The priority that the piece began with.
  func fill(_ round: Round, with handle: WorkHandle, begunWith priority: Priority? = nil) {
    let missed = state.withLock { state -> State? in
      guard state.isRunning, round == state.round else { return nil }
      state.handle = handle
      return state
    }
    guard let missed else { return }
    if missed.isCancelled || missed.isRoundCancelled { return handle.cancel() }
    if let priority, priority != missed.priority { handle.setPriority(missed.priority) }
    if missed.isPaused { handle.setPaused(true) }
  }

  /// Begins a piece and stores its handle.
  ///
  /// - Parameter work: Begins the piece with the given priority and returns its handle. The piece may end, and call
  ///   ``end()``, before that.
  func run(_ work: (Priority) -> WorkHandle) {
    let (round, priority) = (begin(), priority)
    fill(round, with: work(priority), begunWith: priority)
  }

  /// Marks the end of the current piece, and drops its handle.
  func end() {
    // The handle may be the last reference to something that runs code when it is released. It outlives the lock.
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
  func cancel() {
    state.withLock { state in
      state.isCancelled = true
      return state.handle
    }?.cancel()
  }

  /// Changes the priority of the current piece, and of every piece that begins later.
  func setPriority(_ priority: Priority) {
    state.withLock { state in
      state.priority = priority
      return state.handle
    }?.setPriority(priority)
  }

  /// Pauses or resumes the current piece, and every piece that begins later.
  func setPaused(_ isPaused: Bool) {
    state.withLock { state in
      state.isPaused = isPaused
      return state.handle
    }?.setPaused(isPaused)
  }
}
