internal import Foundation
internal import Synchronization

/// The elements of a batch, pulled one by one on a separate queue. Pulling may block: on standard input, for example.
final class ElementSource<Element: Sendable>: Sendable {
  /// Used on the queue only; the lock satisfies the compiler.
  private let next: Mutex<() -> Element?>
  private let queue = DispatchQueue(label: "thumbs.batch.pull")

  init<Elements: Sequence & Sendable>(_ elements: Elements) where Elements.Element == Element {
    next = Mutex(Self.puller(of: elements))
  }

  private static func puller<Elements: Sequence>(of elements: Elements) -> () -> Element?
  where Elements.Element == Element {
    var iterator = elements.makeIterator()
    return { iterator.next() }
  }

  /// Runs `work`, which may call ``pull()``.
  func async(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Returns the next element; nil after the last one.
  func pull() -> Element? { next.withLock { $0() } }

  /// Drops the elements.
  func release() { async { [self] in next.withLock { $0 = { nil } } } }
}
