/// Describes the pixels of a thumbnail as a ``Placeholder`` in place of a file.
struct PlaceholderEncoder: ThumbnailEncoder {
  /// Fine color would not be seen.
  let chromaStep = 2

  func peakBytes(forPixels count: Int) -> Int { 0 }

  /// Planes too, so that a placeholder never keeps the thumbnails of a JPEG file from being made of planes.
  func accepts(_ layout: PixelLayout) -> Bool { true }

  func file(of bitmap: borrowing Bitmap) throws(ImageError) -> EncodedFile {
    let samples = try bitmap.fourSamples()
    return EncodedFile(format: .placeholder, bytes: Placeholder(samples.span, size: bitmap.size).record)
  }
}
