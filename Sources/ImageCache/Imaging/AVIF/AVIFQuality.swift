/// Converts the quality of JPEG to the quantizer of AV1.
enum AVIFQuality {
  /// The quality of JPEG, and the quantizer of libaom with the same mean structural similarity of luma, over photos at
  /// 256 and 512 pixels; the ratio of the sizes is in the documentation of formats. Measured by
  /// `Benchmarks/quality/match.py`.
  private static let table: [(jpeg: Float, avif: Float)] = [
    (1, 63), (10, 53), (20, 43), (30, 38.5), (40, 35.5), (50, 33), (60, 30.5), (70, 27.5), (75, 25.5), (82, 21),
    (85, 18), (89, 13.5), (90, 12), (93, 8.5), (95, 5.5), (98, 0),
  ]

  /// Returns the quantizer, 63 to 0, which falls with `quality`, 1 to 100.
  static func quantizer(for quality: Int) -> Int {
    let quality = Float(quality)
    for (low, high) in zip(table, table.dropFirst()) where quality <= high.jpeg {
      let part = (max(quality, low.jpeg) - low.jpeg) / (high.jpeg - low.jpeg)
      return Int((low.avif + (high.avif - low.avif) * part).rounded())
    }
    return 0
  }
}
