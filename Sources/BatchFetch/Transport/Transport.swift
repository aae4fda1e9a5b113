/// Moves one request to its server and the answer back. Knows nothing of retries, caches or pictures.
///
/// ``CurlTransport`` is the real one, ``FileTransport`` reads local files.
public protocol Transport: Sendable {
  /// Starts an exchange. Returns at once; everything that happens is told to `receiver`.
  func start(_ request: TransferRequest, receiver: any TransferReceiver) -> any Transfer
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
