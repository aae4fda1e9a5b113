extension SourceFormat {
  /// BMP (bitmaps of Windows and OS/2).
  public static let bmp = SourceFormat(rawValue: "bmp", mediaType: "image/bmp")
}

extension BMPDecoder {
  static let format = SourceFormat.bmp

  /// The type of the file, its reserved bytes, and the length of a header. Two letters alone would match any text.
  static let signatures = DIBFields.lengths.map { length in
    FileSignature(
      FileSignature.ascii("BM") + FileSignature.any(4) + [0, 0, 0, 0] + FileSignature.any(4)
        + [UInt8(length), 0, 0, 0])
  }
}
