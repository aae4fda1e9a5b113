/// The state of a batch. A plain value that decides when elements are pulled and when they begin, and counts the
/// outcomes.
///
/// An element that was pulled either begins and takes a place in the window until its outcome is handled, or it is
/// parked without a place until others of its host have ended. An element without a host, such as one that waits for a
/// milestone, always begins: no place of a host can be held by an element that waits for another one.
struct BatchState<Element: Sendable> {
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

  /// The actions that follow when a place becomes free.
  struct Freed: Sendable {
    /// The parked elements that begin now.
    let next: [Element]
    /// True if pulling has stopped and should continue.
    let resumesPulling: Bool
  }

  /// The maximum number of elements in flight, from being pulled to being handled.
  let window: Int
  /// The number of parked elements at which pulling stops.
  let lookahead: Int
  private var hosts: BatchHosts<Element>
  private var pulled = 0
  private var inHand = 0
  private(set) var finished = 0
  private(set) var failed = 0
  private(set) var cancelled = 0
  /// The bytes downloaded for the outcomes so far.
  private(set) var receivedBytes = 0
  private var isClosed = false
  private(set) var isCancelled = false
  /// True if pulling has stopped because the window was full or too many elements were parked.
  private var isStalled = false

  /// - Parameters:
  ///   - window: the maximum number of elements in flight.
  ///   - lookahead: the number of parked elements at which pulling stops.
  ///   - perHost: returns the maximum number of elements in flight of a host.
  init(window: Int, lookahead: Int, perHost: @escaping @Sendable (_ host: String) -> Int) {
    self.window = window
    self.lookahead = lookahead
    hosts = BatchHosts(limit: perHost)
  }

  /// The number of elements that have been pulled and have not begun.
  var parkedCount: Int { hosts.parkedCount }

  /// Reserves a place for one more element. Returns its index; nil if no element may be pulled now.
  mutating func reserve() -> Int? {
    guard !isClosed, inHand < window, parkedCount < lookahead else {
      isStalled = !isClosed
      return nil
    }
    inHand += 1
    defer { pulled += 1 }
    return pulled
  }

  /// Ends the pulling. Returns true for the first call only.
  mutating func close() -> Bool {
    guard !isClosed else { return false }
    isClosed = true
    return true
  }

  /// True if the element of a reserved place counts. False if the batch was canceled while the element was pulled.
  var mayBegin: Bool { !isClosed }

  /// Returns true if an element with a reserved place begins now. Otherwise parks it and frees its place.
  mutating func begin(_ element: Element, host: String?, priority: Priority) -> Bool {
    guard let host, !isCancelled, !hosts.begin(element, of: host, priority: priority, share: share) else { return true }
    inHand -= 1
    return false
  }

  /// Counts an outcome. Returns the number of outcomes so far.
  ///
  /// - Parameter bytes: The bytes downloaded for it. Default 0.
  mutating func deliver(_ end: End, bytes: Int = 0) -> Int {
    finished += 1
    receivedBytes += bytes
    switch end {
    case .success: break
    case .failure: failed += 1
    case .cancelled: cancelled += 1
    }
    return finished
  }

  /// Frees the place of an outcome that was handled. Parked elements of its host take it first.
  ///
  /// - Parameter isCached: True if the element needed no request. Default false.
  mutating func release(host: String?, isCached: Bool = false) -> Freed {
    inHand -= 1
    let next = host.map { hosts.end($0, isCached: isCached, room: window - inHand, share: share) } ?? []
    inHand += next.count
    return Freed(next: next, resumesPulling: resume())
  }

  /// The part of its places that a host may take now.
  private var share: BatchHosts<Element>.Share { .init(inFlight: inHand) }

  /// Returns true if pulling has stopped and should continue, which is the case when more than an eighth of the window
  /// and of the lookahead is free: a thread that is woken for every single place would sleep again at once. Pulling
  /// that has not stopped finds the free place by itself.
  private mutating func resume() -> Bool {
    guard isStalled, window - inHand > window / 8, lookahead - parkedCount > lookahead / 8 else { return false }
    isStalled = false
    return true
  }

  /// Cancels the batch. Returns the parked elements, each of which must be delivered now; nil after the first call.
  mutating func cancel() -> [Element]? {
    guard !isCancelled else { return nil }
    isCancelled = true
    let parked = hosts.removeAll()
    inHand += parked.count
    return parked
  }
}
