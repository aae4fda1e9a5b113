package import HTTPTypes

/// The redirects of one attempt. A plain value that checks every hop without using the network.
package struct RedirectChain {
  /// The URL of the download.
  let source: SourceURL
  /// The URL that reports show for the first hop.
  private let shownSource: SourceURL
  private let limit: Int
  /// The URL of the current request.
  private(set) var hop: SourceURL
  /// The URLs of all requests so far, including the current one.
  private(set) var hops: [SourceURL]
  /// The redirects that were followed, in order.
  private(set) var redirects: [Redirect] = []
  /// The cookies that the servers of the chain have set.
  private(set) var cookies = ChainCookies()
  /// True if a server that redirected is in a private network. See ``TransferHead/isPrivate``.
  var isPrivate = false

  /// - Parameters:
  ///   - source: the URL of the download.
  ///   - shown: the URL that reports show for it, if it is signed. Default nil: the same.
  ///   - limit: the maximum number of redirects to follow.
  init(from source: SourceURL, shownAs shown: SourceURL? = nil, limit: Int) {
    self.source = source
    shownSource = shown ?? source
    self.limit = limit
    hop = source
    hops = [source]
  }

  /// The current URL without credentials; nil if it is the requested one.
  var finalURL: String? { hop.description == source.description ? nil : hop.description }

  /// True if the current host is the host of the download, which alone gets credentials. The scheme may differ, because
  /// redirects from http to https on the same host are common.
  var isAtOriginalHost: Bool { hop.host == source.host }

  /// Returns the header fields that the current hop gets. Another host gets only harmless fields, since any other may
  /// be a secret.
  func fields(of fields: HTTPFields) -> HTTPFields {
    isAtOriginalHost ? fields : HTTPFields(fields.filter { Self.harmless.contains($0.name) })
  }

  private static let harmless: Set<HTTPField.Name> = [
    .userAgent, .accept, .acceptLanguage, .referer, .range, .ifRange, .ifNoneMatch, .ifModifiedSince,
  ]

  /// Returns the `Location` of a redirect, as the server wrote it; nil if `response` is final. The first of several
  /// counts.
  package static func location(in response: HTTPResponse) -> [UInt8]? {
    guard [301, 302, 303, 307, 308].contains(response.status.code) else { return nil }
    let field = response.headerFields.first { $0.name == .location }
    return field?.withUnsafeBytesOfValue { $0.isEmpty ? nil : [UInt8]($0) }
  }

  /// Follows the redirect `response` to `location`.
  ///
  /// - Throws: `too_many_redirects`, `bad_url`, or `blocked_scheme` for a scheme other than http and https, for a
  ///   redirect from https to http, and for one of a bucket.
  mutating func follow(_ location: [UInt8], in response: HTTPResponse) throws(FetchFailure) {
    guard redirects.count < limit else {
      throw FetchFailure(.tooManyRedirects, "The request exceeded the redirect limit of \(limit).")
    }
    guard !hop.scheme.isBucket else {
      throw FetchFailure(.blockedScheme, "Redirects of buckets are not followed.")
    }
    var next = try SourceURL(location, relativeTo: hop)
    switch next.scheme {
    case .file, .data, .s3, .gs:
      throw FetchFailure(.blockedScheme, "Redirects to local files, data: URLs and buckets are not followed.")
    case .http where hop.scheme == .https:
      throw FetchFailure(.blockedScheme, "Redirects from https to http are not followed.")
    case .http, .https: break
    }
    if next.credentials == nil, next.host == source.host { next.credentials = source.credentials }
    cookies.add(from: response, to: hop)
    let shown = redirects.isEmpty ? shownSource : hop
    redirects.append(Redirect(url: shown.description, response: response))
    hop = next
    hops.append(next)
  }
}
