/// An element of a known type, with the closures that its batch was given.
final class TypedElement<Element: Sendable>: BatchElement {
  /// The closures of one batch, shared by its elements.
  final class Closures: Sendable {
    /// Receives one item, and acknowledges it when its place in the window is free.
    typealias Handler = @Sendable (BatchItem<Element>, _ acknowledge: @escaping @Sendable () -> Void) -> Void
    /// Does with an outcome what may be done for several elements at a time, and returns the rest.
    typealias Preparation = @Sendable (Element, Result<ThumbnailSet, FetchFailure>) -> Handler

    fileprivate let request: @Sendable (Element) throws(FetchFailure) -> ThumbnailRequest
    fileprivate let begin: @Sendable (Element) -> Void
    fileprivate let prepare: Preparation

    init(
      request: @escaping @Sendable (Element) throws(FetchFailure) -> ThumbnailRequest,
      begin: @escaping @Sendable (Element) -> Void, prepare: @escaping Preparation
    ) {
      self.request = request
      self.begin = begin
      self.prepare = prepare
    }
  }

  let index: Int
  private let element: Element
  private let closures: Closures

  init(_ element: Element, index: Int, _ closures: Closures) {
    self.element = element
    self.index = index
    self.closures = closures
  }

  func request() throws(FetchFailure) -> ThumbnailRequest { try closures.request(element) }

  func begin() { closures.begin(element) }

  func prepare(_ outcome: Result<ThumbnailSet, FetchFailure>) -> Delivery {
    let handler = closures.prepare(element, outcome)
    return { [index, element] finished, total, acknowledge in
      let item = BatchItem(index: index, element: element, outcome: outcome, finished: finished, total: total)
      handler(item, acknowledge)
    }
  }
}
