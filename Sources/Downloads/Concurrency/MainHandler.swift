/// Turns closures of the main actor into closures for the main queue.
package enum MainHandler {
  /// Returns a closure that calls `body`, and that must be called on the main queue.
  package static func calling<Value: Sendable>(
    _ body: @escaping @MainActor (Value) -> Void
  ) -> @Sendable (Value) -> Void {
    { value in MainActor.assumeIsolated { body(value) } }
  }

  /// Returns a closure that calls `body` as the other method does; nil if there is no `body`.
  package static func calling<Value: Sendable>(
    ifAny body: (@MainActor (Value) -> Void)?
  ) -> (@Sendable (Value) -> Void)? {
    guard let body else { return nil }
    return calling(body)
  }
}
