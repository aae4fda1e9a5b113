internal import Foundation
internal import Synchronization

/// Bounds the bytes that are downloaded and not yet rendered: above the limit no further transfer starts.
final class ByteBudget: Sendable {
  private let limit: Int
  private let held = Mutex(0)
  private let setSuspended: @Sendable (Bool) -> Void
  /// Applies changes one after the other: the last one must not be overtaken by the one before.
  private let queue = DispatchQueue(label: "thumbs.budget")

  /// - Parameter setSuspended: stops and resumes the start of transfers.
  init(limit: Int, setSuspended: @escaping @Sendable (Bool) -> Void) {
    self.limit = limit
    self.setSuspended = setSuspended
  }

  /// These bytes wait to be rendered.
  func hold(_ bytes: Int) { change(by: bytes) }

  /// They wait no longer.
  func release(_ bytes: Int) { change(by: -bytes) }

  private func change(by bytes: Int) {
    let isCrossed = held.withLock { held in
      let wasOver = held > limit
      held += bytes
      return wasOver != (held > limit)
    }
    guard isCrossed else { return }
    queue.async { [self] in setSuspended(held.withLock { $0 > limit }) }
  }
}
