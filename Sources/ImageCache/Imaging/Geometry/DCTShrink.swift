/// How much smaller a JPEG can be made while its DCT blocks are decoded: that is nearly free, but no good filter.
enum DCTShrink {
  /// What a thumbnail needs of its source.
  struct Demand {
    /// Source pixels for each thumbnail pixel in one direction.
    var reduction: Double
    /// Thumbnail pixels for each of its samples of chroma in one direction: 2 where it is a file with 4:2:0, else 1.
    var chromaStep = 1
  }

  /// 1, 2, 4 or 8: the largest factor that leaves the real filter at least twice the samples of every thumbnail, the rule
  /// of libvips, both of luma and of chroma.
  ///
  /// Chroma that is sampled `chromaStretch` times more sparsely in one direction than in the other, as in 4:2:2, is
  /// shrunk by that much more, because libjpeg makes it up for both directions or for none. What `size` leaves over when
  /// it is divided by the factor is lost, so that must be less than a hundredth of it.
  static func factor(for demands: [Demand], of size: PixelSize, chromaStretch: Int = 1) -> Int {
    let luma = demands.map(\.reduction).min() ?? 1
    let chroma = demands.map { $0.reduction * Double($0.chromaStep) }.min() ?? 1
    return [8, 4, 2].first { factor in
      luma >= Double(2 * factor) && chroma >= Double(2 * factor * chromaStretch)
        && size.width % factor * 100 <= size.width && size.height % factor * 100 <= size.height
    } ?? 1
  }
}
