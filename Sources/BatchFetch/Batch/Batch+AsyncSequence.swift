extension Batch: AsyncSequence {
  /// The sequence never throws: failures are outcomes.
  public typealias Failure = Never

  /// Starts the batch, which runs as fast as its items are taken. Releasing the iterator or canceling the task cancels
  /// the batch.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// Calls `body` with each outcome, in the order of completion, and returns the counts of the batch. It runs as fast
  /// as `body` returns. If `body` throws, or the task is canceled, the batch is canceled; the outcomes of elements that
  /// have begun still arrive after a cancellation.
  ///
  /// ```swift
  /// let summary = await batch.forEach { item in print(item.finished, item.outcome) }
  /// print(summary.succeeded, summary.failed)
  /// ```
  ///
  /// - Parameters:
  ///   - body: called with one outcome at a time, on the actor of the caller. Its place in the window is free as soon
  ///     as it is taken.
  ///   - progress: called with the elements and bytes so far on a queue of the batch, which does not wait for `body`;
  ///     see ``BatchProgress/Handler``. Default: nothing.
  public nonisolated(nonsending) func forEach(
    _ body: nonisolated(nonsending) (Element) async throws -> Void, progress: BatchProgress.Handler? = nil
  ) async rethrows -> BatchSummary {
    let channel = BatchChannel(self, progress: progress)
    while let item = await channel.next() { try await body(item) }
    // The last item comes after the end of the batch, which has the counts.
    return channel.summary ?? BatchSummary(finished: 0, failed: 0, cancelled: 0, isCancelled: true)
  }

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
