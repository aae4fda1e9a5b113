internal import ImageCache

extension RenderDemand {
  /// The demand of one caller.
  init(_ request: ThumbnailRequest) {
    self.init(specs: request.specs, digests: request.digest.map { [$0] } ?? [], since: request.since)
  }

  /// The combined demand of the callers with these requests.
  init(_ requests: [ThumbnailRequest]) {
    var known: Set<ThumbnailSpec> = []
    self.init(
      specs: requests.flatMap(\.specs).filter { known.insert($0).inserted },
      digests: Set(requests.compactMap(\.digest)),
      since: requests.allSatisfy { $0.since != nil } ? requests.compactMap(\.since).max() : nil)
  }
}
