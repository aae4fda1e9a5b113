/// The elements of a batch by host: the number that have begun, and those that are parked until others of their host
/// have ended. A plain value.
///
/// A host has parked elements only while others of it are in flight, so a parked element always gets its turn.
struct BatchHosts<Element> {
  /// The maximum number of elements in flight per host.
  let limit: Int
  /// The number of parked elements of all hosts.
  private(set) var parkedCount = 0
  private var hosts: [String: Host] = [:]

  init(limit: Int) { self.limit = limit }

  /// Takes a place for an element of `host`. Parks the element and returns false if there is none, or if others of that
  /// host are parked already.
  mutating func begin(_ element: Element, of host: String, priority: Priority) -> Bool {
    let hasBegun = hosts[host, default: Host()].begin(element, priority: priority, limit: limit)
    if !hasBegun { parkedCount += 1 }
    return hasBegun
  }

  /// Frees the place of an element that has ended. Returns the parked elements that begin now: at most `room`, those of
  /// the highest priority first, and among equals those that were parked first.
  mutating func end(_ host: String, room: Int) -> [Element] {
    guard let index = hosts.index(forKey: host) else { return [] }
    let next = hosts.values[index].end(limit: limit, room: room)
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
    /// The number of elements that have begun and not ended.
    private var begun = 0
    /// The parked elements by priority, the lowest first; empty until one is parked.
    private var lines: [FIFO<Element>] = []
    private var parked = 0

    var isIdle: Bool { begun == 0 && parked == 0 }

    mutating func begin(_ element: Element, priority: Priority, limit: Int) -> Bool {
      if begun < limit, parked == 0 {
        begun += 1
        return true
      }
      if lines.isEmpty { lines = Priority.allCases.map { _ in FIFO() } }
      lines[priority.rawValue].append(element)
      parked += 1
      return false
    }

    /// Refills the places once more than an eighth of them is free: a thread that is woken for every single place would
    /// sleep again at once.
    mutating func end(limit: Int, room: Int) -> [Element] {
      begun -= 1
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
