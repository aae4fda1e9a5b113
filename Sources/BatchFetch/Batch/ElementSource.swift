internal import Foundation
internal import Synchronization

/// The elements of a batch, pulled one by one on a separate queue. Pulling may block: on standard input, for example.
final class ElementSource: Sendable {
  /// A closure alone would be wrapped in another one at each access through the generic lock.
  private struct Puller {
    /// Returns the element at a position.
    var next: (Int) -> (any BatchElement)?
  }

  /// Used on the queue only; the lock satisfies the compiler.
  private let puller: Mutex<Puller>
  private let queue = DispatchQueue(label: "thumbs.batch.pull")

  init<Elements: Sequence & Sendable>(_ elements: Elements, _ closures: TypedElement<Elements.Element>.Closures) {
    puller = Mutex(Self.puller(of: elements, closures))
  }

  private static func puller<Elements: Sequence>(
    of elements: Elements, _ closures: TypedElement<Elements.Element>.Closures
  ) -> Puller {
    var iterator = elements.makeIterator()
    return Puller { index in iterator.next().map { TypedElement($0, index: index, closures) } }
  }

  /// Runs `work`, which may call ``pull(_:)``.
  func async(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Returns the next element, which is at the position `index`; nil after the last one.
  func pull(_ index: Int) -> (any BatchElement)? { puller.withLock { $0.next(index) } }

  /// Drops the elements, and the closures of the batch.
  func release() { async { [self] in puller.withLock { $0.next = { _ in nil } } } }
}
