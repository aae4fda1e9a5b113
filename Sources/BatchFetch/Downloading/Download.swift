public import Foundation
public import HTTPTypes

/// A server's whole answer. Any status is an answer: 404 too.
public struct Download: Sendable {
  /// Status and header fields.
  public var response: HTTPResponse
  /// The body of a 200, content codings undone. Bodies of other answers are not kept.
  public var body: [UInt8]
  /// The address that answered, after redirects, without credentials; nil where it is the one asked for.
  public var finalURL: String?
  /// The redirects that were followed, in order.
  public var redirects: [HTTPResponse] = []
  /// True if a cache may keep the response for other callers. See ``TransferHead/isCacheable``.
  public var isCacheable = true
  /// When the answered request was sent, by the wall clock.
  public var requestedAt: Date
  /// When the answer's head came, by the wall clock.
  public var respondedAt: Date
  /// How often it was tried, at least 1.
  public var attempts: Int
  /// The time that the download waited for its turn and for the addresses of its host.
  public var queued: Duration
  /// How long it took from its first attempt on, pauses between attempts included.
  public var elapsed: Duration
}

extension Download {
  /// The head of the answer, as the transport delivered it.
  var head: TransferHead {
    TransferHead(response: response, finalURL: finalURL, redirects: redirects, isCacheable: isCacheable)
  }
}
