/// Moves one request to its server and the answer back. Knows nothing of retries, caches or pictures.
///
/// ``CurlTransport`` is the real one, ``FileTransport`` reads local files.
public protocol Transport: Sendable {
  /// What of the transport's own configuration changes the bytes that `source` has, as one line: a part of the key that
  /// they are cached under. A host whose certificate is not checked and credentials that the transport adds belong here.
  /// Equal texts must mean equal bytes, in every process; no secret may be in it but as a hash. Called for each request,
  /// also for those that memory answers. Default: empty, for a transport whose configuration changes nothing.
  ///
  /// It says nothing of the hosts that redirects lead to: a transport that treats one of those in another way marks the
  /// answer with ``TransferHead/isCacheable``.
  func variant(of source: SourceURL) -> String

  /// Gets ready for exchanges with the host of `source`. A downloader calls this before each attempt, which then waits
  /// without a place among the transfers at once: a host that cannot be found takes no place of one that can. Default:
  /// there is nothing to do.
  ///
  /// - Parameter completion: called exactly once, from any thread, also before this returns; with a failure where an
  ///   exchange would only find out the same. It must not block.
  func prepare(
    for source: SourceURL, limits: TransferLimits, completion: @escaping @Sendable (FetchFailure?) -> Void)

  /// Starts an exchange. Returns at once; everything that happens is told to `receiver`.
  func start(_ request: TransferRequest, receiver: any TransferReceiver) -> any Transfer
}

extension Transport {
  /// Empty: nothing of the configuration changes any bytes.
  public func variant(of source: SourceURL) -> String { "" }

  /// Does nothing.
  public func prepare(
    for source: SourceURL, limits: TransferLimits, completion: @escaping @Sendable (FetchFailure?) -> Void
  ) {
    completion(nil)
  }
}

/// An exchange that is on its way.
public protocol Transfer: Sendable {
  /// Ends the exchange and closes its connection. The receiver still gets its one end, with `cancelled` unless the
  /// exchange was already over. May be called at any time, from any thread, any number of times.
  func cancel()
}

/// Is told what happens to an exchange: at most one head, then bytes, then exactly one end, all from one thread, which
/// other exchanges share: nothing here may block.
public protocol TransferReceiver: AnyObject, Sendable {
  /// The final answer's head, after redirects.
  /// - Throws: what the exchange shall be given up for.
  func receive(head: TransferHead) throws(FetchFailure)

  /// Some bytes of the body of a 200 or 206, content codings already undone. Valid during the call only. Bodies of
  /// other answers are not passed on.
  /// - Throws: what the exchange shall be given up for.
  func receive(bytes: UnsafeRawBufferPointer) throws(FetchFailure)

  /// The exchange is over: nil when the whole body came, else why not.
  func receiveEnd(_ failure: FetchFailure?)
}
