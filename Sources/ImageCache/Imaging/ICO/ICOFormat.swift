extension SourceFormat {
  /// ICO and CUR (icons and cursors of Windows).
  public static let ico = SourceFormat(rawValue: "ico", mediaType: "image/vnd.microsoft.icon")
}

extension ICODecoder {
  static let format = SourceFormat.ico

  /// Zero, the type of the file (1 for icons, 2 for cursors), 1 to 255 images, and a first image that is shorter than
  /// 16 MiB and begins in the first 16 MiB. The first four bytes alone would match other files.
  static let signatures = ([1, 2] as [UInt8]).map { type in
    FileSignature(
      [0, 0, type, 0, nil, 0] + FileSignature.any(8) + FileSignature.any(3) + [0] + FileSignature.any(3) + [0],
      nonzero: 4)
  }
}
