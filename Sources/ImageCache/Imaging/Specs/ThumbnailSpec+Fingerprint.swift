extension ThumbnailSpec {
  /// A canonical text of everything that decides the thumbnail's pixels, the renderer's version included.
  ///
  /// Two specs are equal exactly when their fingerprints are. Fit for cache keys: stable across processes, ASCII,
  /// without spaces, less than 100 characters.
  /// Example: `v1-256x256@1-inside-never-auto-q82-ffffff-lanczos3-perceptual-baseline`.
  public var fingerprint: String {
    let parts = ["v\(Renderer.version)", "\(box)@\(scale)"]
    let look = [fit.rawValue, enlargement.rawValue, format.rawValue, "q\(quality)", "\(background)"]
    return (parts + look + [filter.rawValue, light.rawValue, scans.rawValue]).joined(separator: "-")
  }
}
