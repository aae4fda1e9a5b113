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

  /// False once pulling has ended. An element that is pulled then is dropped.
  var isOpen: Bool { !isClosed }

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

/// The elements of a batch by host: the number that have begun, and those that are parked until others of their host
/// have ended. A plain value.
///
/// A host has parked elements only while others of it are in flight, so a parked element always gets its turn.
struct BatchHosts<Element> {
  /// The part of its places that a host may take. The more elements are in flight, the smaller it is, so that hosts
  /// whose elements do not end leave room in the window to others.
  enum Share {
    case all
    case quarter
    case one

    /// - Parameter inFlight: The number of elements in flight of all hosts.
    init(inFlight: Int) { self = inFlight <= 256 ? .all : inFlight <= 1024 ? .quarter : .one }
  }

  /// The number of parked elements of all hosts.
  private(set) var parkedCount = 0
  private let limit: @Sendable (_ host: String) -> Int
  private var hosts: [String: Host] = [:]

  /// - Parameter limit: Returns the maximum number of elements in flight of a host.
  init(limit: @escaping @Sendable (_ host: String) -> Int) { self.limit = limit }

  /// Takes a place for an element of `host`. If all places are taken, or others of that host are parked already, parks
  /// the element and returns false.
  mutating func begin(_ element: Element, of host: String, priority: Priority, share: Share) -> Bool {
    let index = index(of: host)
    let hasBegun = hosts.values[index].begin(element, priority: priority, share: share)
    if !hasBegun { parkedCount += 1 }
    return hasBegun
  }

  /// Returns the place of `host`, which it adds if it is missing.
  private mutating func index(of host: String) -> Dictionary<String, Host>.Index {
    if let index = hosts.index(forKey: host) { return index }
    hosts[host] = Host(limit: limit(host))
    return hosts.index(forKey: host) ?? hosts.startIndex
  }

  /// Frees the place of an element that has ended. Returns the parked elements that begin now: at most `room`, those of
  /// the highest priority first, and among equals those that were parked first.
  ///
  /// - Parameters:
  ///   - host: the host of the element.
  ///   - isCached: true if the element needed no request. While that is so, eight times as many elements of the host
  ///     are in flight: they do not wait for it, and many at a time take fewer switches between threads.
  ///   - room: the number of free places in the window, at least 1.
  ///   - share: the part of its places that the host may take.
  mutating func end(_ host: String, isCached: Bool, room: Int, share: Share) -> [Element] {
    guard let index = hosts.index(forKey: host) else { return [] }
    let next = hosts.values[index].end(isCached: isCached, room: room, share: share)
    parkedCount -= next.count
    if hosts.values[index].isIdle { hosts.remove(at: index) }
    return next
  }

  /// Forgets all elements. Returns those that were parked.
  mutating func removeAll() -> [Element] {
    var parked: [Element] = []
    for index in hosts.values.indices {
      while let element = hosts.values[index].next() { parked.append(element) }
    }
    hosts = [:]
    parkedCount = 0
    return parked
  }
}

extension BatchHosts {
  private struct Host {
    private let requestLimit: Int
    private var isCached = false
    /// The number of elements that have begun and not ended.
    private var begun = 0
    /// The parked elements by priority, the lowest first; empty until one is parked.
    private var lines: [FIFO<Element>] = []
    private var parked = 0

    init(limit: Int) { requestLimit = limit }

    private func limit(_ share: Share) -> Int {
      switch share {
      case .all: isCached ? 8 * requestLimit : requestLimit
      case .quarter: max(1, requestLimit / 4)
      case .one: 1
      }
    }

    var isIdle: Bool { begun == 0 && parked == 0 }

    mutating func begin(_ element: Element, priority: Priority, share: Share) -> Bool {
      if begun < limit(share), parked == 0 {
        begun += 1
        return true
      }
      if lines.isEmpty { lines = Priority.allCases.map { _ in FIFO() } }
      lines[priority.rawValue].append(element)
      parked += 1
      return false
    }

    /// Refills the places when more than an eighth of them is free: a thread that is woken for every single place
    /// would sleep again at once.
    mutating func end(isCached: Bool, room: Int, share: Share) -> [Element] {
      begun -= 1
      self.isCached = isCached
      let limit = limit(share)
      guard limit - begun > limit / 8 else { return [] }
      var elements: [Element] = []
      while begun < limit, elements.count < room, let element = next() {
        elements.append(element)
        begun += 1
      }
      return elements
    }

    mutating func next() -> Element? {
      for priority in lines.indices.reversed() {
        guard let element = lines[priority].popFirst() else { continue }
        parked -= 1
        return element
      }
      return nil
    }
  }
}

/// Adds up the bytes of the downloads that a batch has running, and decides when its progress is reported. A plain
/// value.
struct BatchMeter {
  private let interval: Duration
  /// The progress of the running downloads, by the index of the element.
  private var running: [Int: DownloadProgress] = [:]
  /// The bytes that the running downloads have received.
  private(set) var receivedBytes = 0
  private var knownLengths = 0
  /// The number of running downloads whose length is unknown.
  private var unknownCount = 0
  private var lastSchedule: Duration?
  private var lastReport: BatchProgress?
  /// True from the decision to report until the report is made.
  private var isScheduled = false

  /// - Parameter interval: The shortest time between two reports.
  init(interval: Duration) { self.interval = interval }

  /// The length of the running downloads; nil while one of them is unknown.
  var expectedBytes: Int? { unknownCount == 0 ? knownLengths : nil }

  /// Records the progress of an element.
  mutating func record(_ progress: DownloadProgress, of index: Int) {
    if let old = running.updateValue(progress, forKey: index) { count(old, -1) }
    count(progress, 1)
  }

  /// Drops the progress of an element that has ended.
  mutating func end(_ index: Int) {
    if let old = running.removeValue(forKey: index) { count(old, -1) }
  }

  /// Returns true if a report must be scheduled now. It is made with what is known by then, so changes in the meantime
  /// need no other one.
  mutating func schedulesReport(at now: Duration) -> Bool {
    guard !isScheduled else { return false }
    if let lastSchedule, now - lastSchedule < interval { return false }
    lastSchedule = now
    isScheduled = true
    return true
  }

  /// Returns true if `progress` is to be reported now: it differs from the last report.
  mutating func reports(_ progress: BatchProgress) -> Bool {
    isScheduled = false
    defer { lastReport = progress }
    return progress != lastReport
  }

  private mutating func count(_ progress: DownloadProgress, _ sign: Int) {
    receivedBytes += sign * progress.received
    if let total = progress.total { knownLengths += sign * total } else { unknownCount += sign }
  }
}
