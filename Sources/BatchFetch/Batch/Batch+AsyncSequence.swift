extension Batch: AsyncSequence {
  /// Never throws: failures are outcomes.
  public typealias Failure = Never

  /// Starts the batch. It runs as fast as the items are taken; letting the iterator go, or cancelling the task,
  /// cancels it.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// The outcomes, in the order of completion.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let channel: BatchChannel<Elements.Element>

    init(_ batch: Batch) { channel = BatchChannel(batch) }

    /// The next outcome; nil after the last one.
    public mutating func next() async -> BatchItem<Elements.Element>? { await channel.next() }

    /// The next outcome; nil after the last one.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> BatchItem<Elements.Element>? {
      await channel.next()
    }
  }
}
