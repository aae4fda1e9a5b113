import BatchFetch

/// A transport without a network: a test plays the server of each transfer.
final class StubTransport: Transport {
  /// The URLs of the transfers that are ready to begin.
  let (preparations, prepared) = AsyncStream.makeStream(of: String.self)
  /// The transfers that have begun.
  let (transfers, begun) = AsyncStream.makeStream(of: StubTransfer.self)

  func prepare(
    for source: SourceURL, limits: TransferLimits, completion: @escaping @Sendable (FetchFailure?) -> Void
  ) {
    completion(nil)
    prepared.yield(source.description)
  }

  func start(_ request: TransferRequest, receiver: any TransferReceiver) -> any Transfer {
    let transfer = StubTransfer(request, receiver)
    begun.yield(transfer)
    return transfer
  }
}
