/// Decoded pixels and the memory they live in: one owner, freed with it, never copied by accident.
struct Bitmap: ~Copyable {
  /// Columns and rows.
  let size: PixelSize
  /// What a pixel's samples are.
  let layout: PixelLayout
  /// Row after row, without gaps.
  let pixels: UnsafeMutablePointer<UInt8>

  /// Memory for `size`, each side at least 1, with undefined content: every producer fills all of it or fails.
  init(size: PixelSize, layout: PixelLayout) {
    self.size = size
    self.layout = layout
    pixels = .allocate(capacity: size.area * layout.channels)
  }

  deinit { pixels.deallocate() }
}
