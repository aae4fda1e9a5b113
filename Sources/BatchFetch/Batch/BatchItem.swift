/// One element of a batch with its outcome.
public struct BatchItem<Element: Sendable>: Sendable {
  /// The position of the element in the sequence, from 0.
  public let index: Int
  /// The element.
  public let element: Element
  /// The thumbnails or the failure.
  public let outcome: Result<ThumbnailSet, FetchFailure>
  /// The number of finished elements, including this one: 1 for the first item delivered, then 2, and so on.
  public let finished: Int
  /// The number of elements in the sequence; nil if it is unknown.
  public let total: Int?

  /// Creates an item from its parts, for tests of code that shows it.
  public init(
    index: Int, element: Element, outcome: Result<ThumbnailSet, FetchFailure>, finished: Int, total: Int? = nil
  ) {
    self.index = index
    self.element = element
    self.outcome = outcome
    self.finished = finished
    self.total = total
  }
}
