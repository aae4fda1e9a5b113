/// How much smaller a JPEG can be made while its DCT blocks are decoded: that is nearly free, but no good filter.
enum DCTShrink {
  /// 1, 2, 4 or 8: the largest factor that leaves every thumbnail at least twice its size for the real filter,
  /// the rule of libvips. `reductions` are source pixels for each thumbnail pixel.
  ///
  /// What `size` leaves over when it is divided by the factor is lost, so that must be less than a hundredth of it.
  /// Colour sampled more sparsely in one direction (`chromaStretch`) is shrunk by that much more, because libjpeg
  /// makes it up for both directions or for none.
  static func factor(for reductions: [Double], of size: PixelSize, chromaStretch: Int = 1) -> Int {
    let least = reductions.min() ?? 1
    return [8, 4, 2].first { factor in
      least >= Double(2 * factor * chromaStretch)
        && size.width % factor * 100 <= size.width && size.height % factor * 100 <= size.height
    } ?? 1
  }
}
