public import HTTPTypes

/// Why a request came to nothing.
public struct FetchFailure: Error, Hashable, Sendable {
  /// The cause.
  public var code: FailureCode
  /// One sentence for a person. Never holds credentials of an address.
  public var message: String
  /// The head of the last answer of a server; nil where none came.
  public var response: HTTPResponse? {
    get { head?.response }
    set { head = newValue.map { TransferHead(response: $0) } }
  }
  /// The same head with the redirects that led to it.
  var head: TransferHead?
  /// How often the download was tried: 0 where nothing was asked of a server.
  public var attempts: Int

  /// A failure of `code`, explained by `message`.
  public init(_ code: FailureCode, _ message: String, httpStatus: Int? = nil, attempts: Int = 0) {
    self.code = code
    self.message = message
    self.head = httpStatus.map { TransferHead(response: HTTPResponse(status: .init(code: $0))) }
    self.attempts = attempts
  }

  /// The last HTTP status the server gave; nil where none came.
  public var httpStatus: Int? { response?.status.code }

  /// The caller gave up.
  public static let cancelled = FetchFailure(.cancelled, "Cancelled.")
}

extension FetchFailure: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
