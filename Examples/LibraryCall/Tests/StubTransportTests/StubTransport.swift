import BatchFetch

/// A transport without a network: a test plays the server of each transfer.
final class StubTransport: Transport {
  private let (transfers, begin) = AsyncStream.makeStream(of: StubTransfer.self)

  func start(_ request: TransferRequest, receiver: any TransferReceiver) -> any Transfer {
    let transfer = StubTransfer(request, receiver)
    begin.yield(transfer)
    return transfer
  }

  /// Returns the next transfer, as soon as it has begun.
  func next() async throws -> StubTransfer {
    for await transfer in transfers { return transfer }
    throw CancellationError()
  }
}
