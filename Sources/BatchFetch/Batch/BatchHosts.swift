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
  ///   - isCached: true if the element needed no request. While that is so, four times as many elements of the host are
  ///     in flight: they do not wait for it, and many at a time take fewer switches between threads.
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
      case .all: isCached ? 4 * requestLimit : requestLimit
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
