// Inlinable for the reason given in JobTable.swift.

/// A line of elements that wait: the highest priority comes first, and within a priority the element that has waited
/// longest. A plain value.
///
/// Every operation takes constant time, and an element that changes its priority or leaves the line leaves nothing
/// behind.
@usableFromInline package struct PriorityQueue<Element: Sendable>: Sendable {
  /// Identifies one element, also after it has left the line.
  @usableFromInline package struct Place: Hashable, Sendable {
    @usableFromInline let key: SlotMap<Link>.Key

    @inlinable init(key: SlotMap<Link>.Key) { self.key = key }
  }

  /// An element and its neighbors among those of the same priority.
  @usableFromInline struct Link: Sendable {
    @usableFromInline let element: Element
    @usableFromInline var priority: Priority
    @usableFromInline var previous: Place?
    @usableFromInline var next: Place?

    @inlinable init(element: Element, priority: Priority) { (self.element, self.priority) = (element, priority) }
  }

  /// The two ends of the elements of one priority.
  @usableFromInline struct Ends: Sendable {
    @usableFromInline var first: Place?
    @usableFromInline var last: Place?

    @inlinable init() {}
  }

  @usableFromInline var links = SlotMap<Link>()
  @usableFromInline var ends = Priority.Table<Ends>(repeating: Ends())

  @inlinable package init() {}

  /// The number of elements.
  @inlinable package var count: Int { links.count }
  /// True if there are no elements.
  @inlinable package var isEmpty: Bool { count == 0 }
  /// The priority of the next element to leave; nil if the line is empty.
  @inlinable package var topPriority: Priority? {
    var rank = ends.count - 1
    while rank >= 0, ends[rank].first == nil { rank -= 1 }
    return Priority(rawValue: rank)
  }

  /// The next element to leave; nil if the line is empty.
  @inlinable package var first: Element? { firstPlace.flatMap { links[$0.key]?.element } }

  @inlinable var firstPlace: Place? { topPriority.flatMap { ends[$0.rawValue].first } }

  /// Adds an element behind those of the same priority.
  @inlinable package mutating func append(_ element: Element, _ priority: Priority) -> Place {
    let place = Place(key: links.insert(Link(element: element, priority: priority)))
    attach(place, priority)
    return place
  }

  /// Moves an element behind those that wait with its new priority. Does nothing if it has left the line, or has that
  /// priority already.
  @inlinable package mutating func change(_ place: Place, to priority: Priority) {
    guard let link = links[place.key], link.priority != priority else { return }
    detach(link)
    links.update(place.key) { $0.priority = priority }
    attach(place, priority)
  }

  /// Removes and returns an element; nil if it has left the line.
  @discardableResult
  @inlinable package mutating func remove(_ place: Place) -> Element? {
    guard let link = links.remove(place.key) else { return nil }
    detach(link)
    return link.element
  }

  /// Removes and returns the next element; nil if the line is empty.
  @inlinable package mutating func popFirst() -> Element? { firstPlace.flatMap { remove($0) } }

  /// Removes all elements, and returns them in order.
  @inlinable mutating func removeAll() -> [Element] {
    var elements: [Element] = []
    elements.reserveCapacity(count)
    while let element = popFirst() { elements.append(element) }
    return elements
  }

  /// Links an element behind the last one of a priority.
  @inlinable mutating func attach(_ place: Place, _ priority: Priority) {
    let last = ends[priority.rawValue].last
    ends[priority.rawValue].last = place
    links.update(place.key) { ($0.previous, $0.next) = (last, nil) }
    if let last {
      links.update(last.key) { $0.next = place }
    } else {
      ends[priority.rawValue].first = place
    }
  }

  /// Links the neighbors of an element with each other.
  @inlinable mutating func detach(_ link: Link) {
    let index = link.priority.rawValue
    if let previous = link.previous {
      links.update(previous.key) { $0.next = link.next }
    } else {
      ends[index].first = link.next
    }
    if let next = link.next {
      links.update(next.key) { $0.previous = link.previous }
    } else {
      ends[index].last = link.previous
    }
  }
}

// Inlinable for the reason given in JobTable.swift.

/// A queue of elements: first in, first out. A plain value.
@usableFromInline package struct FIFO<Element> {
  /// The newest element is last.
  @usableFromInline var incoming: [Element] = []
  /// The next element to leave is last.
  @usableFromInline var outgoing: [Element] = []

  @inlinable package init() {}

  /// The number of elements.
  @inlinable var count: Int { incoming.count + outgoing.count }

  @inlinable package mutating func append(_ element: Element) { incoming.append(element) }

  /// Removes and returns the oldest element; nil if the queue is empty.
  @inlinable package mutating func popFirst() -> Element? {
    if outgoing.isEmpty {
      swap(&incoming, &outgoing)
      outgoing.reverse()
    }
    return outgoing.popLast()
  }
}

extension FIFO: Sendable where Element: Sendable {}
