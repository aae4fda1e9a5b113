internal import HTTPTypes

/// The way of one exchange from redirect to redirect. A plain value: it judges every hop, and touches no network.
struct RedirectTrail {
  private let request: TransferRequest
  /// What is asked now.
  private(set) var hop: SourceURL
  /// What was asked so far, what is asked now included.
  private(set) var hops: [SourceURL]
  /// The redirects that were followed, in order.
  private(set) var redirects: [HTTPResponse] = []

  init(_ request: TransferRequest) {
    self.request = request
    hop = request.source
    hops = [request.source]
  }

  /// The address that is asked now, without credentials; nil while it is the one of the request.
  var finalURL: String? { hop.description == request.source.description ? nil : hop.description }

  /// Whether it is still the host that the caller named. Only that one is trusted with credentials. The same host by
  /// https is: that is what redirects from http are for.
  var isAtHome: Bool { hop.host == request.source.host }

  /// The header fields for the hop. Another host gets none of the caller's own: any of them may be a secret.
  var headerFields: HTTPFields {
    guard !isAtHome else { return request.headerFields }
    return HTTPFields(request.headerFields.filter { Self.harmless.contains($0.name) })
  }

  private static let harmless: Set<HTTPField.Name> = [
    .userAgent, .accept, .acceptLanguage, .referer, .range, .ifRange, .ifNoneMatch, .ifModifiedSince,
  ]

  /// Where `response` redirects to, as it says; nil for an answer that is final.
  static func location(in response: HTTPResponse) -> String? {
    guard [301, 302, 303, 307, 308].contains(response.status.code) else { return nil }
    return response.headerFields[.location].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Goes on to `location`, as `response` says.
  ///
  /// - Throws: `too_many_redirects`, `bad_url`, or `blocked_scheme` for anything but http and https, and for http
  ///   after https.
  mutating func follow(_ location: String, in response: HTTPResponse) throws(FetchFailure) {
    guard redirects.count < request.limits.maxRedirects else {
      throw FetchFailure(.tooManyRedirects, "More than \(request.limits.maxRedirects) redirects.")
    }
    var next = try SourceURL(location, relativeTo: hop)
    switch next.scheme {
    case .file: throw FetchFailure(.blockedScheme, "A redirect to a local file is not followed.")
    case .http where hop.scheme == .https:
      throw FetchFailure(.blockedScheme, "A redirect from https to http is not followed.")
    case .http, .https: break
    }
    if next.credentials == nil, next.host == request.source.host { next.credentials = request.source.credentials }
    hop = next
    hops.append(next)
    redirects.append(response)
  }
}
