/// How far a batch is. A plain value: it says what may be begun, and counts what was told.
struct BatchState {
  /// How an element ended.
  enum End {
    case success, failure, cancelled

    init(_ outcome: Result<ThumbnailSet, FetchFailure>) {
      switch outcome {
      case .success: self = .success
      case .failure(let failure): self = failure.code == .cancelled ? .cancelled : .failure
      }
    }
  }

  /// Elements at once on their way, from being pulled to being handled.
  let window: Int
  private var begun = 0
  private var inHand = 0
  private(set) var finished = 0
  private(set) var failed = 0
  private(set) var cancelled = 0
  private var isClosed = false
  private(set) var isCancelled = false
  /// Whether the pulling stopped for want of room.
  private var isStalled = false

  init(window: Int) { self.window = window }

  /// A place for one more element, by its index; nil when the window is full, or nothing more is to be pulled.
  mutating func reserve() -> Int? {
    guard !isClosed, inHand < window else {
      isStalled = !isClosed
      return nil
    }
    inHand += 1
    defer { begun += 1 }
    return begun
  }

  /// Nothing more is pulled. True for the first call only.
  mutating func close() -> Bool {
    guard !isClosed else { return false }
    isClosed = true
    return true
  }

  /// Whether the element of a reserved place may still begin: a cancel may have come while it was pulled.
  var mayBegin: Bool { !isClosed }

  /// One more outcome is told; the result is how many that makes.
  mutating func deliver(_ end: End) -> Int {
    finished += 1
    switch end {
    case .success: break
    case .failure: failed += 1
    case .cancelled: cancelled += 1
    }
    return finished
  }

  /// An outcome was handled: its place is free. True when the pulling stopped for want of room and should go on, which
  /// an eighth of the window is worth: woken for every place, it would sleep again at once. A pulling that has not
  /// stopped, and may be blocked by its source for long, finds the place by itself.
  mutating func release() -> Bool {
    inHand -= 1
    guard isStalled, window - inHand > window / 8 else { return false }
    isStalled = false
    return true
  }

  /// Nothing more is pulled, and what is on its way is not wanted. True for the first call only.
  mutating func cancel() -> Bool {
    defer { isCancelled = true }
    return !isCancelled
  }
}
