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

/// Calls closures on an actor, in the order of the calls.
package struct ActorCalls<Isolation: Actor>: Sendable {
  private typealias Call = @Sendable (isolated Isolation) -> Void
  private let calls: AsyncStream<Call>.Continuation

  /// - Parameter actor: Kept until the last closure was called.
  package init(on actor: Isolation) {
    let (stream, calls) = AsyncStream.makeStream(of: Call.self)
    self.calls = calls
    // One task for all calls: the order of several tasks would be open.
    Task { for await call in stream { await call(actor) } }
  }

  /// Returns a closure that has `body` called on the actor; nil if there is no `body`.
  package func calling<Value: Sendable>(
    ifAny body: (@Sendable (isolated Isolation, Value) -> Void)?
  ) -> (@Sendable (Value) -> Void)? {
    guard let body else { return nil }
    return { [calls] value in calls.yield { actor in body(actor, value) } }
  }

  /// Returns a closure that has `body` called on the actor, and after it nothing more.
  package func callingLast<Value: Sendable>(
    _ body: @escaping @Sendable (isolated Isolation, Value) -> Void
  ) -> @Sendable (Value) -> Void {
    { [calls] value in
      calls.yield { actor in body(actor, value) }
      calls.finish()
    }
  }
}
