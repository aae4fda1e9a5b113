/// A queue of elements: first in, first out. A plain value.
package struct FIFO<Element> {
  /// The newest element is last.
  private var incoming: [Element] = []
  /// The next element to leave is last.
  private var outgoing: [Element] = []

  package init() {}

  /// The number of elements.
  var count: Int { incoming.count + outgoing.count }

  package mutating func append(_ element: Element) { incoming.append(element) }

  /// Removes and returns the oldest element; nil if the queue is empty.
  package mutating func popFirst() -> Element? {
    if outgoing.isEmpty {
      swap(&incoming, &outgoing)
      outgoing.reverse()
    }
    return outgoing.popLast()
  }
}

extension FIFO: Sendable where Element: Sendable {}
