import CImage

extension CImageBitmap {
  /// Returns a part of the rows.
  func rows(from first: Int, count: Int) -> CImageBitmap {
    CImageBitmap(
      pixels: pixels + first * stride, width: width, height: Int32(count), channels: channels, stride: stride)
  }

  /// Copies the rows from `first` on to all rows of `target`, which has the same channels and is at most as wide.
  func copy(from first: Int, to target: CImageBitmap) {
    for row in 0..<Int(target.height) {
      (target.pixels + row * target.stride).update(
        from: pixels + (first + row) * stride, count: Int(target.width) * Int(channels))
    }
  }
}
