/// The state of a batch. A plain value that decides when elements may begin, and counts the outcomes.
struct BatchState {
  /// The kind of an outcome.
  enum End {
    case success, failure, cancelled

    init(_ outcome: Result<ThumbnailSet, FetchFailure>) {
      switch outcome {
      case .success: self = .success
      case .failure(let failure): self = failure.code == .cancelled ? .cancelled : .failure
      }
    }
  }

  /// The maximum number of elements in flight, from being pulled to being handled.
  let window: Int
  private var begun = 0
  private var inHand = 0
  private(set) var finished = 0
  private(set) var failed = 0
  private(set) var cancelled = 0
  private var isClosed = false
  private(set) var isCancelled = false
  /// True if pulling has stopped because the window was full.
  private var isStalled = false

  init(window: Int) { self.window = window }

  /// Reserves a place for one more element. Returns its index; nil if the window is full or the batch is closed.
  mutating func reserve() -> Int? {
    guard !isClosed, inHand < window else {
      isStalled = !isClosed
      return nil
    }
    inHand += 1
    defer { begun += 1 }
    return begun
  }

  /// Ends the pulling. Returns true for the first call only.
  mutating func close() -> Bool {
    guard !isClosed else { return false }
    isClosed = true
    return true
  }

  /// True if the element of a reserved place may begin. False if the batch was canceled while the element was pulled.
  var mayBegin: Bool { !isClosed }

  /// Counts an outcome. Returns the number of outcomes so far.
  mutating func deliver(_ end: End) -> Int {
    finished += 1
    switch end {
    case .success: break
    case .failure: failed += 1
    case .cancelled: cancelled += 1
    }
    return finished
  }

  /// Frees the place of an outcome that was handled. Returns true if pulling has stopped and should continue, which is
  /// the case when more than an eighth of the window is free: a thread that is woken for every single place would sleep
  /// again at once. Pulling that has not stopped finds the free place by itself.
  mutating func release() -> Bool {
    inHand -= 1
    guard isStalled, window - inHand > window / 8 else { return false }
    isStalled = false
    return true
  }

  /// Cancels the batch. Returns true for the first call only.
  mutating func cancel() -> Bool {
    defer { isCancelled = true }
    return !isCancelled
  }
}
