import BatchFetch
import Hummingbird

/// A response for a request that failed: a status, and a JSON object with a stable code and a message.
struct ServiceError: HTTPResponseError {
  private struct Content: ResponseEncodable {
    let code: String
    let message: String
  }

  let status: HTTPResponse.Status
  private let content: Content

  init(_ status: HTTPResponse.Status, code: String, message: String) {
    self.status = status
    content = Content(code: code, message: message)
  }

  init(_ failure: FetchFailure) {
    self.init(failure.code.status, code: "\(failure.code)", message: failure.message)
  }

  func response(from request: Request, context: some RequestContext) throws -> Response {
    var response = try content.response(from: request, context: context)
    response.status = status
    response.headers[.connection] = "close"
    return response
  }
}

extension FailureCode {
  /// The status for clients of the service. A failure of the image's server is one of a gateway.
  fileprivate var status: HTTPResponse.Status {
    switch self {
    case .badURL: .badRequest
    case .blockedScheme, .blockedAddress, .blockedRobots: .forbidden
    case .http(404), .http(410): .notFound
    case .timeoutConnect, .timeoutFirstByte, .timeoutTotal, .stalled: .gatewayTimeout
    case .cancelled: .serviceUnavailable
    default: .badGateway
    }
  }
}
