/// An element of a known type, with the closures that its batch was given.
final class TypedElement<Element: Sendable>: BatchElement {
  /// The closures of one batch, shared by its elements.
  final class Closures: Sendable {
    /// Receives one item, and acknowledges it when its place in the window is free.
    typealias Handler = @Sendable (BatchItem<Element>, _ acknowledge: @escaping @Sendable () -> Void) -> Void

    fileprivate let request: @Sendable (Element) throws(FetchFailure) -> ThumbnailRequest
    fileprivate let begin: @Sendable (Element) -> Void
    fileprivate let handler: Handler

    init(
      request: @escaping @Sendable (Element) throws(FetchFailure) -> ThumbnailRequest,
      begin: @escaping @Sendable (Element) -> Void, handler: @escaping Handler
    ) {
      self.request = request
      self.begin = begin
      self.handler = handler
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

  func deliver(
    _ outcome: Result<ThumbnailSet, FetchFailure>, finished: Int, total: Int?,
    acknowledge: @escaping @Sendable () -> Void
  ) {
    let item = BatchItem(index: index, element: element, outcome: outcome, finished: finished, total: total)
    closures.handler(item, acknowledge)
  }
}
