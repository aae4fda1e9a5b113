#if WebP
  /// Converts the quality of JPEG to that of libwebp.
  enum WebPQuality {
    /// The quality of JPEG, and that of libwebp with the same mean structural similarity of luma, over photos at 256
    /// and 512 pixels; the ratio of the sizes is in the documentation of formats. Measured by
    /// `Benchmarks/quality/match.py`.
    private static let table: [(jpeg: Float, webp: Float)] = [
      (1, 0), (10, 2), (20, 15), (30, 29), (40, 41), (50, 51), (60, 63), (70, 75), (75, 79), (82, 84), (85, 86.5),
      (89, 90), (90, 91), (93, 95), (95, 99), (100, 100),
    ]

    /// Returns the quality for libwebp, 0 to 100, which rises with `quality`, 1 to 100.
    static func factor(for quality: Int) -> Float {
      let quality = Float(quality)
      for (low, high) in zip(table, table.dropFirst()) where quality <= high.jpeg {
        return low.webp + (high.webp - low.webp) * (max(quality, low.jpeg) - low.jpeg) / (high.jpeg - low.jpeg)
      }
      return 100
    }
  }
#endif
