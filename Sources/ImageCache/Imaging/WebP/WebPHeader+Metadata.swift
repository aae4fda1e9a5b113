extension WebPHeader {
  /// Reads the EXIF chunk after the image data, if there is one.
  mutating func readTrailer(_ bytes: Span<UInt8>) {
    guard isExtended else { return }
    // The range of the first frame of an animation ends with its chunk; that of an image begins with its first chunk.
    var offset = pixels.upperBound == end ? pixels.lowerBound : pixels.upperBound + pixels.upperBound % 2
    while let count = bytes.uint32(at: offset + 4, .little), offset + 8 + count <= min(end, bytes.count) {
      // A file has at most one (RFC 9649, section 2.7.1.5).
      if bytes.has("EXIF", at: offset) {
        return readOrientation(exif: bytes.extracting(offset + 8..<offset + 8 + count))
      }
      offset += 8 + count + count % 2
    }
  }

  /// Reads the orientation from the data of an EXIF chunk. Some writers begin it like the segment of a JPEG file.
  mutating func readOrientation(exif data: Span<UInt8>) {
    image.readOrientation(exif: data.has("Exif\0\0", at: 0) ? data.extracting(6...) : data)
  }

  /// Returns the ICC profile of the file; nil if there is none or, with a warning, if it is too large.
  func profile(in file: Span<UInt8>, warnings: inout [String]) -> [UInt8]? {
    guard let profile else { return nil }
    guard profile.count <= DecodingLimits.maxProfileBytes else {
      warnings.append("ICC profile ignored: it is too large")
      return nil
    }
    return file.extracting(profile).withUnsafeBufferPointer { Array($0) }
  }
}
