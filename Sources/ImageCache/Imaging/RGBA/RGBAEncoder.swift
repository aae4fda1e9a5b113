/// Returns the pixels of a thumbnail in place of a file.
struct RGBAEncoder: ThumbnailEncoder {
  let chromaStep = 1

  func peakBytes(forPixels count: Int) -> Int { 0 }

  func accepts(_ layout: PixelLayout) -> Bool { layout != .planes }

  func file(of bitmap: borrowing Bitmap) throws(ImageError) -> EncodedFile {
    EncodedFile(format: .rgba, bytes: try bitmap.fourSamples())
  }
}

extension Bitmap {
  /// Returns red, green, blue and alpha of every pixel, row after row.
  fileprivate borrowing func fourSamples() throws(ImageError) -> [UInt8] {
    let (samples, layout, count) = (planes[0].samples, layout, size.area)
    let (green, blue) = layout.isGray ? (0, 0) : (1, 2)
    // Array allocation traps when memory runs out, so first check that as much can be allocated.
    CImageCall.free(try CImageCall.allocate(count * 4))
    return [UInt8](unsafeUninitializedCapacity: count * 4) { bytes, length in
      for pixel in 0..<count {
        let (from, to) = (pixel * layout.channels, pixel * 4)
        bytes[to] = samples[from]
        bytes[to + 1] = samples[from + green]
        bytes[to + 2] = samples[from + blue]
        bytes[to + 3] = layout.hasAlpha ? samples[from + layout.channels - 1] : 255
      }
      length = count * 4
    }
  }
}
