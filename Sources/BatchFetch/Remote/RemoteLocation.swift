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
    let signature: RequestSignature
    /// The token of temporary credentials; nil for permanent ones.
    let sessionToken: String?
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
    try request(name, body: [], limits: limits)
  }

  /// Returns the request that writes the object called `name`.
  func put(
    _ bytes: [UInt8], as name: String, _ condition: RemoteObject.Condition, limits: TransferLimits
  ) throws(FetchFailure) -> TransferRequest {
    var request = try request(name, body: bytes, limits: limits)
    request.upload = bytes
    request.headerFields[.contentType] = "application/octet-stream"
    if condition == .absent { request.headerFields[.ifNoneMatch] = "*" }
    return request
  }

  private func request(
    _ name: String, body: [UInt8], limits: TransferLimits
  ) throws(FetchFailure) -> TransferRequest {
    var source = try SourceURL(prefix + name)
    source.credentials = credentials
    var request = TransferRequest(source: source, limits: limits)
    request.headerFields[.userAgent] = "thumbs/\(Downloader.version)"
    guard let signer else { return request }
    request.signature = signer.signature
    request.headerFields.set("x-amz-content-sha256", to: BodyDigest(of: body).description)
    if let token = signer.sessionToken { request.headerFields.set("x-amz-security-token", to: token) }
    return request
  }
}

extension HTTPFields {
  /// Sets the field called `name`, which must be a valid name.
  fileprivate mutating func set(_ name: String, to value: String) {
    if let name = HTTPField.Name(name) { self[name] = value }
  }
}
