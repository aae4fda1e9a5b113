extension Batch: AsyncSequence {
  /// The sequence never throws: failures are outcomes.
  public typealias Failure = Never

  /// Starts the batch, which runs as fast as its items are taken. Releasing the iterator or canceling the task cancels
  /// the batch.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// Iterates over the outcomes, in the order of completion.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let channel: BatchChannel<Elements.Element>

    init(_ batch: Batch) { channel = BatchChannel(batch) }

    /// Returns the next outcome; nil after the last one.
    public mutating func next() async -> BatchItem<Elements.Element>? { await channel.next() }

    /// Returns the next outcome; nil after the last one.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> BatchItem<Elements.Element>? {
      await channel.next()
    }
  }
}
