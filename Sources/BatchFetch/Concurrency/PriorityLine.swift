/// A line of elements that wait: the highest priority comes first, and within a priority the element that has waited
/// longest. A plain value.
///
/// Each element is in the line at most once. Every operation takes constant time, and an element that changes its
/// priority or leaves the line leaves nothing behind.
struct PriorityLine<Element: Hashable & Sendable>: Sendable {
  private struct Place {
    let priority: Priority
    var previous: Element?
    var next: Element?
  }

  /// The two ends of the elements of one priority, which are linked by their places.
  private struct Ends {
    var first: Element?
    var last: Element?
  }

  private var places: [Element: Place] = [:]
  private var ends = Priority.allCases.map { _ in Ends() }

  /// The number of elements.
  var count: Int { places.count }
  /// True if there are no elements.
  var isEmpty: Bool { places.isEmpty }
  /// The priority of the next element to leave; nil if the line is empty.
  var topPriority: Priority? { ends.lastIndex { $0.first != nil }.flatMap { Priority(rawValue: $0) } }
  /// The next element to leave; nil if the line is empty.
  var first: Element? { ends.last { $0.first != nil }?.first }

  /// Adds an element behind those of the same priority. If it is in the line already, its priority changes.
  mutating func append(_ element: Element, _ priority: Priority) {
    guard places[element] == nil else { return change(element, to: priority) }
    let last = ends[priority.rawValue].last
    places[element] = Place(priority: priority, previous: last)
    ends[priority.rawValue].last = element
    if let last { places[last]?.next = element } else { ends[priority.rawValue].first = element }
  }

  /// Moves an element behind those that wait with its new priority. Does nothing if it is not in the line, or has that
  /// priority already.
  mutating func change(_ element: Element, to priority: Priority) {
    guard let place = places[element], place.priority != priority else { return }
    remove(element)
    append(element, priority)
  }

  /// Removes an element. Returns false if it is not in the line.
  @discardableResult
  mutating func remove(_ element: Element) -> Bool {
    guard let place = places.removeValue(forKey: element) else { return false }
    let index = place.priority.rawValue
    if let previous = place.previous { places[previous]?.next = place.next } else { ends[index].first = place.next }
    if let next = place.next { places[next]?.previous = place.previous } else { ends[index].last = place.previous }
    return true
  }

  /// Removes and returns the next element; nil if the line is empty.
  mutating func popFirst() -> Element? {
    guard let first else { return nil }
    remove(first)
    return first
  }

  /// Removes all elements, and returns them in order.
  mutating func removeAll() -> [Element] {
    var elements: [Element] = []
    elements.reserveCapacity(count)
    while let element = popFirst() { elements.append(element) }
    return elements
  }
}
