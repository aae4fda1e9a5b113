internal import HTTPTypes

/// The redirects of one transfer. A plain value that checks every hop without using the network.
struct RedirectTrail {
  private let request: TransferRequest
  /// The URL of the current request.
  private(set) var hop: SourceURL
  /// The URLs of all requests so far, including the current one.
  private(set) var hops: [SourceURL]
  /// The redirect responses that were followed, in order.
  private(set) var redirects: [HTTPResponse] = []

  init(_ request: TransferRequest) {
    self.request = request
    hop = request.source
    hops = [request.source]
  }

  /// The current URL without credentials; nil if it is the requested one.
  var finalURL: String? { hop.description == request.source.description ? nil : hop.description }

  /// True if the current host is the host of the request, which alone gets credentials. The scheme may differ, because
  /// redirects from http to https on the same host are common.
  var isAtOriginalHost: Bool { hop.host == request.source.host }

  /// The header fields for the current hop. Another host gets only harmless fields, since any other may be a secret.
  var headerFields: HTTPFields {
    guard !isAtOriginalHost else { return request.headerFields }
    return HTTPFields(request.headerFields.filter { Self.harmless.contains($0.name) })
  }

  private static let harmless: Set<HTTPField.Name> = [
    .userAgent, .accept, .acceptLanguage, .referer, .range, .ifRange, .ifNoneMatch, .ifModifiedSince,
  ]

  /// Returns the `Location` of a redirect, as the server wrote it; nil if `response` is final.
  static func location(in response: HTTPResponse) -> String? {
    guard [301, 302, 303, 307, 308].contains(response.status.code) else { return nil }
    return response.headerFields[.location].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Follows the redirect `response` to `location`.
  ///
  /// - Throws: `too_many_redirects`, `bad_url`, or `blocked_scheme` for a scheme other than http and https and for a
  ///   redirect from https to http.
  mutating func follow(_ location: String, in response: HTTPResponse) throws(FetchFailure) {
    guard redirects.count < request.limits.maxRedirects else {
      throw FetchFailure(
        .tooManyRedirects, "The request exceeded the redirect limit of \(request.limits.maxRedirects).")
    }
    var next = try SourceURL(location, relativeTo: hop)
    switch next.scheme {
    case .file: throw FetchFailure(.blockedScheme, "Redirects to local files are not followed.")
    case .http where hop.scheme == .https:
      throw FetchFailure(.blockedScheme, "Redirects from https to http are not followed.")
    case .http, .https: break
    }
    if next.credentials == nil, next.host == request.source.host { next.credentials = request.source.credentials }
    hop = next
    hops.append(next)
    redirects.append(response)
  }
}
