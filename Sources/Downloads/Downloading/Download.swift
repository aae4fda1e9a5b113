public import Foundation
public import HTTPTypes

/// A complete response. ``DownloadRequest/responses`` decides which statuses are a success; others are a
/// ``FetchFailure``.
public struct Download: Sendable {
  /// Status and header fields.
  public var response: HTTPResponse
  /// The body, after content decoding: complete if the status is 200 to 299, and otherwise its start, of up to
  /// ``ResponseRules/maxErrorBytes``. Empty if the body is in a file.
  public var body: [UInt8]
  /// The file with the body; nil for a body in memory.
  public var file: DownloadedFile?
  /// The URL that responded, after redirects, without credentials; nil if it is the one requested.
  public var finalURL: String?
  /// The redirects that were followed, in order.
  public var redirects: [Redirect] = []
  /// True if a cache may keep the response for other callers. See ``TransferHead/isCacheable``.
  public var isCacheable = true
  /// True if a server that responded is in a private network. See ``TransferHead/isPrivate``.
  public var isPrivate = false
  /// True if the target of the last redirect was not requested. See ``DownloadRequest/freshTarget``.
  package var isTargetReused = false
  /// The time when the request was sent, by the wall clock.
  public var requestedAt: Date
  /// The time when the head of the response arrived, by the wall clock.
  public var respondedAt: Date
  /// The number of attempts, at least 1: one more after each failure that was retried. Redirects and pauses begin no
  /// new attempt.
  public var attempts: Int
  /// The time that the download waited for its turn and for the IP addresses of its host.
  public var queued: Duration
  /// The time from the first attempt to the end, including pauses between attempts.
  public var elapsed: Duration

  /// Creates a response from its parts, for tests of code that shows or uses it.
  public init(
    response: HTTPResponse, body: [UInt8] = [], file: DownloadedFile? = nil, finalURL: String? = nil,
    redirects: [Redirect] = [], isCacheable: Bool = true, isPrivate: Bool = false, requestedAt: Date = Date(),
    respondedAt: Date = Date(), attempts: Int = 1, queued: Duration = .zero, elapsed: Duration = .zero
  ) {
    self.response = response
    self.body = body
    self.file = file
    self.finalURL = finalURL
    self.redirects = redirects
    self.isCacheable = isCacheable
    self.isPrivate = isPrivate
    self.requestedAt = requestedAt
    self.respondedAt = respondedAt
    self.attempts = attempts
    self.queued = queued
    self.elapsed = elapsed
  }
}

extension Download {
  /// The length of the body in bytes, in memory or in a file.
  public var length: Int { file?.length ?? body.count }

  /// The head of the response, as the transport delivered it.
  package var head: TransferHead {
    var head = TransferHead(
      response: response, finalURL: finalURL, redirects: redirects, isCacheable: isCacheable)
    head.isPrivate = isPrivate
    return head
  }
}
