/// Chooses the factor by which libjpeg shrinks a JPEG while it decodes the DCT blocks. That is nearly free, but a poor
/// filter.
enum JPEGShrink {
  /// Returns 1, 2, 4 or 8: the largest factor that leaves the final filter at least twice the samples of every
  /// thumbnail, for luma and for chroma. libvips uses the same rule.
  ///
  /// If chroma is sampled `chromaStretch` times more sparsely in one direction than in the other, as in 4:2:2, it is
  /// shrunk by that much more, because libjpeg compensates for sparse chroma in both directions or in neither. The
  /// remainder of `size` divided by the factor is lost, so it must be at most a hundredth of the side.
  static func factor(for targets: [DecodingDemand.Target], of size: PixelSize, chromaStretch: Int = 1) -> Int {
    let luma = targets.map(\.reduction).min() ?? 1
    let chroma = targets.map { $0.reduction * Double($0.chromaStep) }.min() ?? 1
    return [8, 4, 2].first { factor in
      luma >= Double(2 * factor) && chroma >= Double(2 * factor * chromaStretch)
        && size.width % factor * 100 <= size.width && size.height % factor * 100 <= size.height
    } ?? 1
  }
}
