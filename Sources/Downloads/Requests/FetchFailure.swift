public import Foundation
public import HTTPTypes

/// The reason why a request failed.
public struct FetchFailure: Error, Hashable, Sendable {
  /// The cause.
  public var code: FailureCode
  /// One sentence for people. It never contains the credentials of a URL.
  public var message: String
  /// The URL that failed, as it was requested, with `***` in place of its credentials. Nil if the caller canceled the
  /// request, or if no request could be made.
  public var url: String?
  /// The failures of all URLs, in the order in which they were tried, if the request had mirrors and more than one URL
  /// failed; this failure is one of them. Otherwise empty.
  public var candidates: [FetchFailure] = []
  /// The head of the last response; nil if there was none.
  public var response: HTTPResponse? {
    get { head?.response }
    set { head = newValue.map { TransferHead(response: $0) } }
  }
  /// The redirects that were followed before the last response, in order; empty if there was no response.
  public var redirects: [Redirect] { head?.redirects ?? [] }
  /// The head of the last response together with the redirects that led to it.
  package var head: TransferHead?
  /// The number of download attempts: one, and one more after each failure that was retried; 0 if no request was sent.
  public var attempts: Int
  /// True if another request for the same image had begun the work: its attempts count there, too. Always false for a
  /// download. Default false.
  public var isShared = false
  /// The time before which the host wants no further request; nil if it has named none.
  public var retryAt: Date?
  /// The time of the response of which a cache remembered the failure, without a request; nil for a new failure.
  public var rememberedSince: Date?
  /// The start of the body of an error response, of up to ``ResponseRules/maxErrorBytes``. Empty by default, and for
  /// any failure other than that of a status.
  public var body: [UInt8] = []
  /// True if the connection broke during its TLS handshake.
  var isHandshake = false

  /// Creates a failure with the cause `code`, explained by `message`. An `httpStatus` outside 100...599 is ignored.
  public init(_ code: FailureCode, _ message: String, httpStatus: Int? = nil, attempts: Int = 0) {
    self.code = code
    self.message = message
    let status = httpStatus.flatMap { (100...599).contains($0) ? HTTPResponse.Status(code: $0) : nil }
    self.head = status.map { TransferHead(response: HTTPResponse(status: $0)) }
    self.attempts = attempts
  }

  /// The last HTTP status received; nil if there was no response.
  public var httpStatus: Int? { response?.status.code }

  /// True if no connection to the host could be made.
  var isUnreachable: Bool { isHandshake || code.contact == .unreachable }

  /// Returns the failure of a request for `url`, which may have credentials. One that has a URL keeps it.
  package func about(_ url: String?) -> FetchFailure {
    guard let url, self.url == nil, code != .cancelled else { return self }
    var failure = self
    failure.url = Redaction.url(url)
    return failure
  }

  /// The failure of a request that its caller canceled. Swift's own `CancellationError` is never thrown: a task that is
  /// canceled gets this failure.
  public static let cancelled = FetchFailure(.cancelled, "The request was canceled.")
}

extension FetchFailure: CustomStringConvertible, LocalizedError {
  /// The message.
  public var description: String { message }
  /// The message, which is also the `localizedDescription`.
  public var errorDescription: String? { message }
}

// MARK: Error

extension FetchFailure {
  /// Creates the failure for an error that a closure of the program has thrown. A ``FetchFailure`` stays as it is; any
  /// other error becomes `request_failed`.
  init(thrown error: any Error) {
    if let failure = error as? FetchFailure {
      self = failure
    } else {
      self.init(.requestFailed, "The request could not be made: \(error)")
    }
  }

  /// Returns the result of `body`, and turns the errors that it throws into failures.
  static func catching<Value>(_ body: () throws -> Value) throws(FetchFailure) -> Value {
    do {
      return try body()
    } catch {
      throw FetchFailure(thrown: error)
    }
  }
}

// MARK: Hash

extension FetchFailure {
  /// Creates the failure of a caller who expects other bytes than those of `hash`.
  package init(hash: BodyDigest, expected: BodyDigest, httpStatus: Int?, attempts: Int) {
    self.init(
      .hashMismatch, "The file has the SHA-256 \(hash), but \(expected) is expected.", httpStatus: httpStatus,
      attempts: attempts)
  }
}
