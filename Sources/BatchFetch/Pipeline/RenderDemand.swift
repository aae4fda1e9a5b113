internal import ImageCache

/// The combined demand of all callers of one image.
struct RenderDemand {
  let specs: [ThumbnailSpec]
  /// The digests that callers expect.
  let digests: Set<BodyDigest>
  /// Nil as soon as one caller accepts fresh entries only.
  let since: ContinuousClock.Instant?

  /// Returns true if no caller expects other bytes than those of `source`.
  func accepts(_ source: StoredSource) -> Bool {
    guard let digest = source.digest else { return true }
    return digests.allSatisfy { $0 == digest }
  }
}
