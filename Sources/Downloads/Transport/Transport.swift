public import HTTPTypes

/// A way to send one request and receive its response, without redirects, retries, caches or knowledge of images.
///
/// ``CurlTransport`` speaks HTTP, and ``FileTransport`` reads local files.
public protocol Transport: Sendable {
  /// Returns one line that identifies every part of the transport's configuration that may change the bytes of
  /// `source`: for example that certificates are not verified, or the credentials that the transport adds. It becomes
  /// part of the cache key.
  ///
  /// Equal texts must mean equal bytes in every process. Secrets may appear only as a hash. Called for each request,
  /// including memory hits, so it must be fast. The text does not cover the hosts that redirects lead to; see
  /// ``trusts(_:as:)``. Default: empty, for a transport whose configuration never changes the bytes.
  func variant(of source: SourceURL) -> String

  /// Returns true if this transport treats `hop` in the same way as `source`, which redirects to it. If not, for
  /// example because it does not verify the certificate of `hop`, the response is never cached. Default: true.
  func trusts(_ hop: SourceURL, as source: SourceURL) -> Bool

  /// Prepares transfers with the host of `source`, for example by resolving its name. A downloader calls this before
  /// each attempt, while the attempt does not yet count as a concurrent transfer, so that hosts that cannot be resolved
  /// do not slow down others. Default: does nothing.
  ///
  /// - Parameters:
  ///   - source: the URL of the coming transfer.
  ///   - limits: the limits of the coming transfer.
  ///   - completion: called exactly once, on any thread, possibly before this method returns; with a failure if a
  ///     transfer could only fail the same way. It must not block.
  func prepare(
    for source: SourceURL, limits: TransferLimits, completion: @escaping @Sendable (FetchFailure?) -> Void)

  /// Returns true if ``prepare(for:limits:completion:)`` would have nothing to do. Default: false.
  func isPrepared(for source: SourceURL, limits: TransferLimits) -> Bool

  /// Starts a transfer and returns immediately. All events go to `receiver`.
  func start(_ request: TransferRequest, receiver: any TransferReceiver) -> any Transfer
}

extension Transport {
  /// Returns an empty text: the configuration never changes the bytes.
  public func variant(of source: SourceURL) -> String { "" }

  /// Returns true: the transport treats all hosts alike.
  public func trusts(_ hop: SourceURL, as source: SourceURL) -> Bool { true }

  /// Returns false.
  public func isPrepared(for source: SourceURL, limits: TransferLimits) -> Bool { false }

  /// Calls `completion` without any preparation.
  public func prepare(
    for source: SourceURL, limits: TransferLimits, completion: @escaping @Sendable (FetchFailure?) -> Void
  ) {
    completion(nil)
  }
}

/// A transfer that has started.
public protocol Transfer: Sendable {
  /// Cancels the transfer and closes its connection. The receiver still gets its one end, with `cancelled` unless the
  /// transfer was already over. May be called at any time, from any thread, any number of times.
  func cancel()
}

/// The receiver of a transfer's events: that the request is sent, at most one head, then bytes, then exactly one end.
/// The events come one at a time, on a thread shared by other transfers, so no method may block.
public protocol TransferReceiver: AnyObject, Sendable {
  /// There is a connection, and the request is being sent. A rate counts requests from this event on. If a transport
  /// does not report it, they count from the end of the transfer, and a host with a rate has one transfer at a time.
  func requestSent()

  /// Receives the head of the response, which may be a redirect.
  /// - Throws: the failure with which to abort the transfer.
  func receive(head: TransferHead) throws(FetchFailure)

  /// Receives some bytes of the body, with content codings already decoded. The buffer is valid only during the call.
  /// Bodies that ``TransferRequest/responses`` do not keep need not be delivered.
  /// - Throws: the failure with which to abort the transfer.
  func receive(bytes: UnsafeRawBufferPointer) throws(FetchFailure)

  /// Receives the end of the transfer: nil if the body is complete, otherwise the failure.
  func receiveEnd(_ failure: FetchFailure?)
}

extension TransferReceiver {
  /// Does nothing.
  public func requestSent() {}

  /// Receives some bytes of the body from an array. The method that takes a buffer cannot be called in
  /// `withUnsafeBytes`, which loses the type of its error.
  public func receive(_ bytes: [UInt8]) throws(FetchFailure) {
    try bytes.withUnsafeBytes { buffer in
      Result { () throws(FetchFailure) in try receive(bytes: buffer) }
    }.get()
  }
}

/// A request for one transfer: one HTTP request and its response.
public struct TransferRequest: Sendable {
  /// The URL to fetch.
  public var source: SourceURL
  /// The header fields of the request.
  public var headerFields: HTTPFields
  /// The limits of the transfer.
  public var limits: TransferLimits
  /// The part of ``TransferLimits/total`` that earlier transfers of the same attempt have used, before redirects.
  /// Default zero.
  public var elapsed = Duration.zero
  /// True if the transport may add its own credentials, for example from a `.netrc` file. False after a redirect to
  /// another host. Default true.
  public var addsCredentials = true
  /// The cookies that earlier responses of the redirect chain have set, in the form of a `Cookie` header field. They
  /// replace others of the same names. Default nil: none.
  public var cookies: String?
  /// The rules for bodies. A transport may drop those that they do not keep. Default: only the body of a 200 or 206
  /// response is kept.
  public var responses = ResponseRules.image
  /// The way in which libcurl reads the response; nil if earlier responses of the host decide.
  var reading: ResponseReading?
  /// The purpose of a request to a bucket. Default ``BucketAction/read``.
  package var action = BucketAction.read
  /// The body of a PUT request; nil for a GET request.
  package var upload: [UInt8]?
  /// The signature of the request; nil for none.
  package var signature: RequestSignature?

  /// Creates a request for `source`.
  public init(source: SourceURL, headerFields: HTTPFields = [:], limits: TransferLimits = TransferLimits()) {
    self.source = source
    self.headerFields = headerFields
    self.limits = limits
  }
}

/// A way in which libcurl reads a response.
enum ResponseReading {
  /// It decodes the content codings.
  case decoded
  /// It decodes nothing, whatever `Content-Encoding` says.
  case undecoded
  /// It passes on all bytes; see ``PlainResponse``.
  case plain
}

/// The key and the parameters with which libcurl signs a request (AWS Signature Version 4).
///
/// The request must have the field `x-amz-content-sha256`, which libcurl 7.88 does not add. All of its fields are
/// signed.
package struct RequestSignature: Hashable, Sendable {
  /// The region, such as `us-east-1`.
  let region: String
  let accessKey: String
  let secretKey: String

  package init(region: String, accessKey: String, secretKey: String) {
    self.region = region
    self.accessKey = accessKey
    self.secretKey = secretKey
  }

  /// The provider, its name in header fields, the region and the service, as libcurl expects them.
  var parameters: String { "aws:amz:\(region):s3" }
}
