internal import ImageCache

/// The combined demand of all callers of one image.
struct RenderDemand {
  let specs: [ThumbnailSpec]
  /// The digests that callers expect.
  let digests: Set<BodyDigest>
  /// Nil as soon as one caller accepts fresh entries only.
  let since: ContinuousClock.Instant?

  init(_ request: ThumbnailRequest) {
    (specs, since) = (request.specs, request.since)
    digests = request.digest.map { [$0] } ?? []
  }

  init(_ requests: [ThumbnailRequest]) {
    var known: Set<ThumbnailSpec> = []
    specs = requests.flatMap(\.specs).filter { known.insert($0).inserted }
    digests = Set(requests.compactMap(\.digest))
    since = requests.allSatisfy { $0.since != nil } ? requests.compactMap(\.since).max() : nil
  }

  /// Returns true if no caller expects other bytes than those of `source`.
  func accepts(_ source: StoredSource) -> Bool {
    guard let digest = source.digest else { return true }
    return digests.allSatisfy { $0 == digest }
  }
}
