/// An element that has not begun.
///
/// An object, so that a parked element takes only its own size: the arrays that hold parked elements grow by doubling.
/// It is released when the element begins: a request in flight must not keep the milestones that it waits for, see
/// ``Milestone``.
final class PendingElement: Sendable {
  let element: any BatchElement
  let request: ThumbnailRequest
  /// The host whose places the element takes; nil if it takes none.
  let host: String?
  /// The epoch of the pipeline when the element was pulled.
  let epoch: Int

  init(_ element: any BatchElement, _ request: ThumbnailRequest, epoch: Int) {
    let parsed = request.parsed()
    self.element = element
    self.request = parsed
    self.epoch = epoch
    host = parsed.host
  }
}

extension ThumbnailRequest {
  /// The host whose places the request takes. Nil if it takes none: local files and invalid URLs never reach a host,
  /// and a request that waits for another one must not hold a place that the other one may need.
  fileprivate var host: String? {
    guard after.isEmpty, let source, source.scheme != .file else { return nil }
    return source.host
  }
}
