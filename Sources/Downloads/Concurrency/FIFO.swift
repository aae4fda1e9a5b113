// Inlinable for the reason given in InFlight.swift.

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
