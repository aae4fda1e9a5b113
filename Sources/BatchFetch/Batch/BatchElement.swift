/// One element of a batch, and the caller's code for it. The engine of a batch is independent of the type of the
/// elements: code for any type is slow in another module than its own.
protocol BatchElement: AnyObject, Sendable {
  /// The position of the element in the sequence, from 0.
  var index: Int { get }

  /// Returns the request of the element.
  func request() throws(FetchFailure) -> ThumbnailRequest

  /// Tells the caller that the request begins.
  func begin()

  /// Hands the outcome to the caller's code that may run for several elements at a time. Returns what remains to be
  /// done for one element at a time.
  func prepare(_ outcome: Result<ThumbnailSet, FetchFailure>) -> Delivery
}

extension BatchElement {
  /// Delivers the outcome of one element.
  ///
  /// - Parameters:
  ///   - finished: the number of finished elements, including this one.
  ///   - total: the number of elements in the sequence; nil if it is unknown.
  ///   - acknowledge: called when the place of the element in the window is free.
  typealias Delivery = @Sendable (_ finished: Int, _ total: Int?, _ acknowledge: @escaping @Sendable () -> Void) -> Void
}
