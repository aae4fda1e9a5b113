/// Changes a request before each of its attempts: adds a token that expires, or signs the URL.
///
/// ```swift
/// request.modifier = RequestModifier(id: "user 17") { attempt in
///   attempt.headerFields[.authorization] = "Bearer \(try await session.token(after: attempt.lastFailure))"
/// }
/// ```
///
/// It is called when the host of the request is about to have a free transfer, at most as many times at once as the
/// host may have transfers, and again after a pause. Redirects belong to the same attempt. An error that it throws
/// fails the attempt: a ``FetchFailure`` with its own code, any other error with `request_failed`. So does a call that
/// takes longer than ``TransferLimits/total``, with `timeout_total`.
public struct RequestModifier: Sendable {
  /// Changes one attempt.
  public typealias Change = @Sendable (_ attempt: inout RequestAttempt) async throws -> Void

  /// Stands for what the modifier does, for example the user whose token it adds. Modifiers with the same id count as
  /// equal: their requests share downloads and cache entries. Others never do.
  public let id: String
  private let change: Change

  /// Creates a modifier with `id`.
  public init(id: String, _ change: @escaping Change) {
    self.id = id
    self.change = change
  }

  /// Returns the changed attempt.
  ///
  /// - Throws: what the modifier throws, as a failure; `bad_url` or `bad_row` for a change that is not possible.
  public func modify(_ attempt: RequestAttempt) async throws(FetchFailure) -> RequestAttempt {
    var modified = attempt
    do {
      try await change(&modified)
    } catch {
      throw FetchFailure(thrown: error)
    }
    try modified.check(against: attempt)
    return modified
  }
}

extension RequestModifier: Hashable {
  /// Compares the ids.
  public static func == (a: RequestModifier, b: RequestModifier) -> Bool { a.id == b.id }

  /// Hashes the id.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
