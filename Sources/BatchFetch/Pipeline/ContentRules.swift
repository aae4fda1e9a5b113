public import ImageCache

/// The rules that the images of a pipeline must follow besides being decodable. The placeholders that hosts send in
/// place of an image break them.
///
/// ```swift
/// var configuration = ThumbnailPipeline.Configuration()
/// configuration.content.minPixels = 32 * 32
/// configuration.content.rejectedDigests = [placeholder]
/// ```
public struct ContentRules: Hashable, Sendable {
  /// The minimum number of pixels of an image. One with fewer fails with `too_few_pixels`, as soon as its header has
  /// arrived. Default 0.
  public var minPixels = 0
  /// The digests of files that fail with `rejected_hash`. Default: none.
  public var rejectedDigests: Set<BodyDigest> = []

  /// Creates rules that accept every image.
  public init() {}

  /// Returns the failure of a file with `digest`; nil if it is not rejected.
  func failure(of digest: BodyDigest) -> FetchFailure? {
    guard rejectedDigests.contains(digest) else { return nil }
    return FetchFailure(.rejectedHash, "The file has the rejected SHA-256 \(digest).")
  }

  /// Returns the failure of an image in a cache; nil if it follows the rules.
  func failure(of source: StoredSource) -> FetchFailure? {
    guard case .image(let image, let digest, _) = source.content else { return nil }
    if let failure = failure(of: digest) { return failure }
    do throws(ImageError) {
      try image.size.check(minPixels: minPixels)
      return nil
    } catch {
      return FetchFailure(error)
    }
  }
}
