public import Foundation

/// Many requests as one: each outcome is told with the count so far, and one completion follows them all.
///
/// The elements are pulled lazily, a window at a time, so that a sequence of any length takes constant memory.
/// Several batches, and single requests, may run over one pipeline: what they have in common is done once.
///
/// ```swift
/// for await item in Batch(addresses.map { ThumbnailRequest(url: $0, size: 64) }, over: pipeline) {
///   print(item.finished, item.total ?? 0, item.outcome)
/// }
/// ```
public struct Batch<Elements: Sequence & Sendable>: Sendable where Elements.Element: Sendable {
  /// What the batch is made of.
  public typealias Element = BatchItem<Elements.Element>
  /// Turns an element into a request; throws for one that is none, which fails that element only.
  public typealias Request = @Sendable (Elements.Element) throws(FetchFailure) -> ThumbnailRequest

  let elements: Elements
  let pipeline: ThumbnailPipeline
  let total: Int?
  let window: Int
  let request: Request

  /// A batch of anything that can be turned into requests. It does nothing until it is started or iterated.
  ///
  /// - Parameters:
  ///   - elements: pulled one by one, from a thread that may be blocked by it.
  ///   - pipeline: what fetches and renders.
  ///   - total: the number of elements, for the progress; nil where it is not known.
  ///   - window: elements at once on their way. Default 64.
  ///   - request: the request of an element.
  public init(
    _ elements: Elements, over pipeline: ThumbnailPipeline, total: Int? = nil, window: Int = 64,
    request: @escaping Request
  ) {
    self.elements = elements
    self.pipeline = pipeline
    self.total = total
    self.window = Swift.max(1, window)
    self.request = request
  }

  /// Starts the batch.
  ///
  /// - Parameters:
  ///   - queue: where the closures are called, one at a time; by default a queue of the batch.
  ///   - each: called once for every element, in the order of completion. The next element takes the place of this
  ///     one when it returns.
  ///   - completion: called exactly once, after the last call of `each`: also when there was nothing to do, when
  ///     everything failed, or after a cancel.
  /// - Returns: the running batch, which needs not be kept.
  @discardableResult
  public func start(
    on queue: DispatchQueue? = nil, each: @escaping @Sendable (Element) -> Void,
    completion: @escaping @Sendable (BatchSummary) -> Void = { _ in }
  ) -> BatchRun {
    let engine = BatchEngine(self, queue: queue) { item, acknowledge in
      each(item)
      acknowledge()
    }
    engine.start(completion: completion)
    return BatchRun(group: engine.group) { engine.cancel() }
  }
}

extension Batch where Elements.Element == ThumbnailRequest {
  /// A batch of requests.
  public init(_ requests: Elements, over pipeline: ThumbnailPipeline, window: Int = 64) where Elements: Collection {
    self.init(requests, over: pipeline, total: requests.count, window: window) { $0 }
  }
}
