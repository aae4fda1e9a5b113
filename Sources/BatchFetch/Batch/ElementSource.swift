internal import Foundation
internal import Synchronization

/// The elements of a batch, pulled one by one on a separate queue. Pulling may block: on standard input, for example.
final class ElementSource: Sendable {
  /// Returns the element at a position. Used on the queue only; the lock satisfies the compiler.
  private let next: Mutex<(Int) -> (any BatchElement)?>
  private let queue = DispatchQueue(label: "thumbs.batch.pull")

  init<Elements: Sequence & Sendable>(_ elements: Elements, _ closures: TypedElement<Elements.Element>.Closures) {
    next = Mutex(Self.puller(of: elements, closures))
  }

  private static func puller<Elements: Sequence>(
    of elements: Elements, _ closures: TypedElement<Elements.Element>.Closures
  ) -> (Int) -> (any BatchElement)? {
    var iterator = elements.makeIterator()
    return { index in iterator.next().map { TypedElement($0, index: index, closures) } }
  }

  /// Runs `work`, which may call ``pull(_:)``.
  func async(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Returns the next element, which is at the position `index`; nil after the last one.
  func pull(_ index: Int) -> (any BatchElement)? { next.withLock { $0(index) } }

  /// Drops the elements, and the closures of the batch.
  func release() { async { [self] in next.withLock { $0 = { _ in nil } } } }
}
