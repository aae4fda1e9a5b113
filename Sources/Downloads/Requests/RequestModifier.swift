public import HTTPTypes

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

/// One attempt of a download, as a ``RequestModifier`` sees and changes it.
public struct RequestAttempt: Sendable {
  /// The number of the attempt, from 1.
  public let number: Int
  /// The failure of the last attempt, such as `http_401`; nil if there was none.
  public let lastFailure: FailureCode?
  /// The URL to request. Another path or query is possible; another scheme or host fails the attempt with `bad_url`.
  public var source: SourceURL
  /// The header fields of the request, without those of the downloader and the host. A field about the length of the
  /// message or its connection fails the attempt with `bad_row`.
  public var headerFields: HTTPFields

  /// Creates an attempt, for tests of modifiers.
  public init(number: Int, lastFailure: FailureCode? = nil, source: SourceURL, headerFields: HTTPFields = [:]) {
    self.number = number
    self.lastFailure = lastFailure
    self.source = source
    self.headerFields = headerFields
  }

  /// Checks a modified attempt. The place in the queue belongs to the host of `original`.
  func check(against original: RequestAttempt) throws(FetchFailure) {
    guard source.scheme == original.source.scheme, source.host == original.source.host else {
      throw FetchFailure(.badURL, "A modifier must not change the scheme or the host of a request.")
    }
    try headerFields.checkFraming()
  }
}
