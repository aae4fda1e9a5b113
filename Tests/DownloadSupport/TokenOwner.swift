internal import Synchronization
internal import TestSupport

/// An object that keeps the token of its request, while the closures of the request capture the object.
package final class TokenOwner<Token: Sendable>: Sendable {
  private let token = Mutex<Token?>(nil)
  private let ends = Recorder<Void>()

  /// Must be called by the completion.
  package func end() { ends.record(()) }

  /// Must be called by closures other than the completion.
  package func touch() {}

  /// Returns true once the owner of a request is released, after the end of the request and while the owner still keeps
  /// the token. Returns false if that does not happen before the time limit of the suite.
  ///
  /// - Parameters:
  ///   - start: makes a request whose closures capture the owner.
  ///   - finish: called with the token after the owner has it.
  package static func isReleased(
    after start: (TokenOwner) throws -> Token, then finish: (Token) -> Void = { _ in }
  ) async rethrows -> Bool {
    weak var released: TokenOwner?
    do {
      let owner = TokenOwner()
      released = owner
      let token = try start(owner)
      owner.token.withLock { $0 = token }
      finish(token)
      _ = await owner.ends.values(count: 1)
    }
    // The end is recorded inside the completion, which its caller releases a moment later.
    while released != nil, !Task.isCancelled { await Task.yield() }
    return released == nil
  }
}
