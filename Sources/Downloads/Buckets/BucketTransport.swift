internal import Dispatch
internal import HTTPTypes
internal import Synchronization

/// A transport for URLs of buckets as well as for others: it requests an object from the server of its bucket, and
/// signs the request. All other requests go to another transport as they are.
final class BucketTransport: Transport {
  private struct State {
    var servers: [SourceURL.Scheme: Result<Server, FetchFailure>] = [:]
    /// The regions that servers have named, by bucket.
    var regions: [String: String] = [:]
  }

  /// The server for one scheme.
  private struct Server {
    let store: BucketAccess.Store
    let variant: String
  }

  private let base: any Transport
  private let access: BucketAccess
  private let state = Mutex(State())

  init(_ access: BucketAccess, over base: any Transport) { (self.access, self.base) = (access, base) }

  /// Names the server and its key: the same URL leads to other bytes elsewhere.
  func variant(of source: SourceURL) -> String {
    guard source.scheme.isBucket else { return base.variant(of: source) }
    return (try? server(for: source.scheme))?.variant ?? ""
  }

  func trusts(_ hop: SourceURL, as source: SourceURL) -> Bool {
    source.scheme.isBucket ? hop == source : base.trusts(hop, as: source)
  }

  func prepare(
    for source: SourceURL, limits: TransferLimits, completion: @escaping @Sendable (FetchFailure?) -> Void
  ) {
    do throws(FetchFailure) {
      base.prepare(for: try target(of: source), limits: limits, completion: completion)
    } catch {
      completion(error)
    }
  }

  func isPrepared(for source: SourceURL, limits: TransferLimits) -> Bool {
    (try? target(of: source)).map { base.isPrepared(for: $0, limits: limits) } ?? false
  }

  func start(_ request: TransferRequest, receiver: any TransferReceiver) -> any Transfer {
    guard let object = request.source.object else { return base.start(request, receiver: receiver) }
    do throws(FetchFailure) {
      let server = try server(for: object.scheme)
      return base.start(
        try signed(request, for: object, server.store),
        receiver: BucketReceiver(receiver, isSigned: server.store.key != nil) { [self] head throws(FetchFailure) in
          try follow(head, of: object, server)
        })
    } catch {
      DispatchQueue.global().async { receiver.receiveEnd(error) }
      return NoTransfer()
    }
  }

  /// Throws the failure of a bucket whose server cannot be used.
  func check(_ source: SourceURL) throws(FetchFailure) {
    if source.scheme.isBucket { _ = try server(for: source.scheme) }
  }

  private func server(for scheme: SourceURL.Scheme) throws(FetchFailure) -> Server {
    if let known = state.withLock({ $0.servers[scheme] }) { return try known.get() }
    let result = Result { () throws(FetchFailure) in
      let store = try access.store(for: scheme)
      let url = try store.server(of: scheme, region: store.region)
      let key = store.key.map { BodyDigest(of: Array($0.accessKey.utf8)).description } ?? "none"
      return Server(store: store, variant: "bucket \(url) \(key) \(base.variant(of: url))")
    }
    // Two threads may read the same files at the same time.
    state.withLock { $0.servers[scheme] = result }
    return try result.get()
  }

  private func region(of bucket: String, _ store: BucketAccess.Store) -> String {
    state.withLock { $0.regions[bucket] } ?? store.region
  }

  /// Returns the URL that is requested for `source`.
  private func target(of source: SourceURL) throws(FetchFailure) -> SourceURL {
    guard let object = source.object else { return source }
    let store = try server(for: source.scheme).store
    return try store.server(of: object.scheme, region: region(of: object.bucket, store))
  }

  /// Returns the request to the server for a request for `object`.
  private func signed(
    _ request: TransferRequest, for object: BucketURL, _ store: BucketAccess.Store
  ) throws(FetchFailure) -> TransferRequest {
    let region = region(of: object.bucket, store)
    let server = try store.server(of: object.scheme, region: region).description.dropLast()
    var signed = request
    signed.addsCredentials = false
    signed.headerFields[.authorization] = nil
    switch request.action {
    case .read: signed.source = try SourceURL("\(server)\(object.path)")
    case .write(let bytes):
      signed.source = try SourceURL("\(server)\(object.path)")
      signed.upload = bytes
      // Otherwise, libcurl would add a type without signing it.
      if signed.headerFields[.contentType] == nil { signed.headerFields[.contentType] = "application/octet-stream" }
    case .list(let query): signed.source = try SourceURL("\(server)/\(object.bucket)/?\(query)")
    }
    if let key = store.key { signed.sign(with: key, region: region) }
    return signed
  }

  /// Remembers the region that a response names for the bucket of `object`, and throws if it is another one than that
  /// of the request.
  private func follow(_ head: TransferHead, of object: BucketURL, _ server: Server) throws(FetchFailure) {
    guard [301, 307, 400, 403].contains(head.response.status.code), let name = HTTPField.Name("x-amz-bucket-region"),
      let region = head.response.headerFields[name], region != self.region(of: object.bucket, server.store)
    else { return }
    state.withLock { $0.regions[object.bucket] = region }
    throw FetchFailure(.wrongRegion, "The bucket \(object.bucket) is in the region \(region); set AWS_REGION.")
  }
}

extension SourceURL {
  /// The object that the URL is of; nil if it is not of a bucket.
  fileprivate var object: BucketURL? { scheme.isBucket ? try? BucketURL(description) : nil }
}

extension TransferRequest {
  /// Makes libcurl sign the request for `region` with `key`.
  package mutating func sign(with key: BucketAccess.Key, region: String) {
    signature = RequestSignature(region: region, accessKey: key.accessKey, secretKey: key.secretKey)
    headerFields.set("x-amz-content-sha256", to: BodyDigest(of: upload ?? []).description)
    if let token = key.sessionToken { headerFields.set("x-amz-security-token", to: token) }
  }
}

extension HTTPFields {
  /// Sets the field called `name`, which must be a valid name.
  fileprivate mutating func set(_ name: String, to value: String) {
    if let name = HTTPField.Name(name) { self[name] = value }
  }
}

/// Passes the events of a transfer on, and explains what a server of buckets refuses.
private final class BucketReceiver: TransferReceiver {
  private let receiver: any TransferReceiver
  private let isSigned: Bool
  private let follow: @Sendable (TransferHead) throws(FetchFailure) -> Void

  /// - Parameter follow: Throws for a response that names another region.
  init(
    _ receiver: any TransferReceiver, isSigned: Bool,
    follow: @escaping @Sendable (TransferHead) throws(FetchFailure) -> Void
  ) {
    (self.receiver, self.isSigned, self.follow) = (receiver, isSigned, follow)
  }

  func requestSent() { receiver.requestSent() }

  func receive(head: TransferHead) throws(FetchFailure) {
    try follow(head)
    let status = head.response.status.code
    if !isSigned, [401, 403].contains(status) {
      var failure = FetchFailure(
        .http(status),
        "The server responded with status \(status), and there is no key to sign the request; see "
          + "AWS_ACCESS_KEY_ID and AWS_PROFILE.")
      failure.head = head
      throw failure
    }
    try receiver.receive(head: head)
  }

  func receive(bytes: UnsafeRawBufferPointer) throws(FetchFailure) { try receiver.receive(bytes: bytes) }

  func receiveEnd(_ failure: FetchFailure?) { receiver.receiveEnd(failure) }
}

/// A transfer that has failed before it began.
private struct NoTransfer: Transfer {
  func cancel() {}
}
