/// Elements that leave in the order they came. A plain value.
struct FIFO<Element> {
  /// The last to come is at the end.
  private var incoming: [Element] = []
  /// The next to leave is at the end.
  private var outgoing: [Element] = []

  /// The number of elements.
  var count: Int { incoming.count + outgoing.count }

  mutating func append(_ element: Element) { incoming.append(element) }

  /// Nil where none is left.
  mutating func popFirst() -> Element? {
    if outgoing.isEmpty {
      swap(&incoming, &outgoing)
      outgoing.reverse()
    }
    return outgoing.popLast()
  }
}
