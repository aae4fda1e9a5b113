/// Returns the pixels of a thumbnail in place of a file.
struct RGBAEncoder: ThumbnailEncoder {
  let chromaStep = 1

  func peakBytes(forPixels count: Int) -> Int { 0 }

  func accepts(_ layout: PixelLayout) -> Bool { layout != .planes }

  func file(of bitmap: borrowing Bitmap) throws(ImageError) -> EncodedFile {
    EncodedFile(format: .rgba, bytes: try bitmap.fourSamples())
  }
}
