internal import Dispatch

extension Batch {
  /// Starts the batch for code of the main actor, such as a view.
  ///
  /// ```swift
  /// batch.start(isolation: MainActor.shared) { item in
  ///   self.finished = item.finished
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - actor: the main actor, on which `each`, `progress` and `completion` are called, one at a time.
  ///   - each: called once for each element, in the order of completion. When it returns, the place of the element in
  ///     the window is free.
  ///   - progress: called with the elements and bytes so far; see ``BatchProgress/Handler``. Default: nothing.
  ///   - completion: called exactly once, after the last call of `each`. Default: nothing.
  ///   - begin: called when the request of an element begins, on a thread of the batch, as in
  ///     ``start(on:each:progress:completion:begin:)``. Default: nothing.
  /// - Returns: the running batch. It continues if you do not keep this value.
  @discardableResult
  public func start(
    isolation actor: MainActor, each: @escaping @MainActor (Element) -> Void,
    progress: (@MainActor (BatchProgress) -> Void)? = nil,
    completion: @escaping @MainActor (BatchSummary) -> Void = { _ in },
    begin: @escaping @Sendable (Elements.Element) -> Void = { _ in }
  ) -> BatchRun {
    start(
      on: .main, each: MainHandler.calling(each), progress: MainHandler.calling(ifAny: progress),
      completion: MainHandler.calling(completion), begin: begin)
  }
}
