internal import Foundation
internal import HTTPTypes
internal import ImageCache

/// The place of a remote cache: the URL below which its objects are, and the key that signs requests to S3.
///
/// The names of objects consist of letters, digits, `-` and `/`, and no URL has a query, because versions of libcurl
/// differ in how they sign anything else.
struct RemoteLocation: Sendable {
  /// A key for S3.
  struct Signer: Sendable {
    let key: BucketAccess.Key
    let region: String
  }

  /// The URL of all objects up to their names, without credentials. Ends with a slash.
  let prefix: String
  /// `user` or `user:password`, percent-encoded; nil for none.
  let credentials: String?
  /// Nil for a server that is not S3.
  let signer: Signer?

  /// Creates the location at `url`, in one of the forms that ``RemoteCache/init(_:environment:)`` lists.
  init(_ url: String, environment: [String: String]) throws(FetchFailure) {
    if url.hasPrefix("s3://") {
      try self.init(s3: url, environment: environment)
    } else {
      try self.init(http: url)
    }
  }

  init(prefix: String, credentials: String? = nil, signer: Signer? = nil) {
    (self.prefix, self.credentials, self.signer) = (prefix, credentials, signer)
  }

  private init(http url: String) throws(FetchFailure) {
    guard ["http://", "https://"].contains(where: url.lowercased().hasPrefix) else {
      let forms = "http://host/path, https://host/path or s3://bucket/prefix"
      throw FetchFailure(.badURL, "The URL of the remote cache must have the form \(forms).")
    }
    let base = try SourceURL(url)
    guard !base.description.contains("?") else {
      throw FetchFailure(.badURL, "The URL of the remote cache must not have a query.")
    }
    let text = base.description
    self.init(prefix: text.hasSuffix("/") ? text : text + "/", credentials: base.credentials)
  }

  /// Returns the request that reads the object called `name`.
  func get(_ name: String, limits: TransferLimits) throws(FetchFailure) -> TransferRequest {
    try request(name, body: nil, limits: limits)
  }

  /// Returns the request that writes the object called `name`.
  func put(
    _ bytes: [UInt8], as name: String, _ condition: RemoteObject.Condition, limits: TransferLimits
  ) throws(FetchFailure) -> TransferRequest {
    var request = try request(name, body: bytes, limits: limits)
    request.headerFields[.contentType] = "application/octet-stream"
    if condition == .absent { request.headerFields[.ifNoneMatch] = "*" }
    return request
  }

  private func request(
    _ name: String, body: [UInt8]?, limits: TransferLimits
  ) throws(FetchFailure) -> TransferRequest {
    var source = try SourceURL(prefix + name)
    source.credentials = credentials
    var request = TransferRequest(source: source, limits: limits)
    request.headerFields[.userAgent] = "thumbs/\(Downloader.version)"
    request.upload = body
    if let signer { request.sign(with: signer.key, region: signer.region) }
    return request
  }
}

// MARK: S3

// The form `s3://bucket/prefix?endpoint=https://host&region=name`.
extension RemoteLocation {
  init(s3 url: String, environment: [String: String]) throws(FetchFailure) {
    let parts = url.dropFirst("s3://".count).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = try Self.path(parts[0])
    let parameters = try Self.parameters(parts.count == 2 ? parts[1] : "")
    var store = try BucketAccess.Store.s3(environment)
    if let endpoint = parameters["endpoint"] { store.endpoint = endpoint }
    if let region = parameters["region"] { store.region = region }
    guard let key = store.key else {
      throw FetchFailure(.badURL, "For s3://, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.")
    }
    let server = try store.server(of: .s3, region: store.region)
    self.init(prefix: "\(server)\(path)/", signer: Signer(key: key, region: store.region))
  }

  /// Returns the bucket and the prefix as a path that needs no encoding.
  private static func path(_ text: Substring) throws(FetchFailure) -> String {
    let words = text.split(separator: "/", omittingEmptySubsequences: false)
    let path = words.last == "" ? words.dropLast() : words[...]
    guard !path.isEmpty, path.allSatisfy({ isPlain($0) && $0 != "." && $0 != ".." }) else {
      throw FetchFailure(
        .badURL, "The bucket and the prefix of s3:// must not be empty and may contain only letters, digits and - . _")
    }
    return path.joined(separator: "/")
  }

  private static func isPlain(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-._/".utf8.contains($0) }
  }

  private static func parameters(_ query: Substring) throws(FetchFailure) -> [String: String] {
    var parameters: [String: String] = [:]
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, ["endpoint", "region"].contains(parts[0]), let value = parts[1].removingPercentEncoding
      else { throw FetchFailure(.badURL, "The query of s3:// may contain only endpoint= and region=.") }
      parameters[String(parts[0])] = value
    }
    return parameters
  }
}
