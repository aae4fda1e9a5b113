extension SourceFormat {
  /// JPEG (ITU-T T.81).
  public static let jpeg = SourceFormat(rawValue: "jpeg", mediaType: "image/jpeg")
}

extension OutputFormat {
  /// JPEG (ITU-T T.81).
  public static let jpeg = OutputFormat(rawValue: "jpeg", mediaType: "image/jpeg", fileExtension: "jpg")
}

extension JPEGDecoder {
  static let format = SourceFormat.jpeg

  /// SOI and the first byte of another marker.
  static let signatures = [FileSignature([0xFF, 0xD8, 0xFF])]

  static func start(afterGarbageIn window: Span<UInt8>) -> Int? {
    (1..<window.count).first { isStart($0, in: window) }
  }

  /// Returns true if SOI and one of the markers that usually follow it are at `offset`.
  private static func isStart(_ offset: Int, in window: Span<UInt8>) -> Bool {
    offset + 3 < window.count && window[offset] == 0xFF && window[offset + 1] == 0xD8 && window[offset + 2] == 0xFF
      && isFirst(window[offset + 3])
  }

  /// Returns true for the markers that usually follow SOI: DQT, DHT, APP0 to APP15, COM, SOF0, SOF2.
  private static func isFirst(_ marker: UInt8) -> Bool {
    [0xDB, 0xC4, 0xFE, 0xC0, 0xC2].contains(marker) || (0xE0...0xEF).contains(marker)
  }
}

extension JPEGEncoder {
  /// The end of EOI, which follows the last scan (ITU-T T.81, annex B).
  static func end(of file: Span<UInt8>) -> Int? {
    var offset = 2
    while offset + 1 < file.count, file[offset] == 0xFF {
      let code = file[offset + 1]
      if code == 0xD9 { return offset + 2 }
      guard let length = file.uint16(at: offset + 2), length >= 2 else { return nil }
      offset += 2 + length
      if code == 0xDA { offset = endOfScan(file, from: offset) }
    }
    return nil
  }

  /// Returns the offset of the first marker that does not belong to the data of a scan, or the end of the file.
  private static func endOfScan(_ file: Span<UInt8>, from start: Int) -> Int {
    var offset = start
    while offset + 1 < file.count {
      let isMarker = file[offset] == 0xFF && file[offset + 1] != 0 && !(0xD0...0xD7).contains(file[offset + 1])
      if isMarker { return offset }
      offset += 1
    }
    return file.count
  }
}
