/// One element of a batch, and what became of it.
public struct BatchItem<Element: Sendable>: Sendable {
  /// The position of the element in the batch's sequence, from 0.
  public let index: Int
  /// The element.
  public let element: Element
  /// Its thumbnails, or why there are none.
  public let outcome: Result<ThumbnailSet, FetchFailure>
  /// How many elements are finished, this one included: 1 for the first item told, then 2, and so on.
  public let finished: Int
  /// How many there are; nil where the sequence does not tell.
  public let total: Int?
}
