/// Camera raw files that look like TIFF. Their first page is a small preview of the image, which follows in a format of
/// the camera.
enum CameraRaw {
  /// The number of pages among which a full image is looked for.
  private static let maxPages = 16

  /// Returns the name of the format; nil for other files, and as long as `prefix` ends before the directories that
  /// decide.
  static func name(_ prefix: Span<UInt8>) -> String? {
    if prefix.has("II*\0\u{10}\0\0\0CR\u{2}", at: 0) { return "Canon raw (CR2)" }
    guard let order = ByteOrder(tiff: prefix), prefix.uint16(at: 2, order) == 42,
      let start = prefix.uint32(at: 4, order), let first = TIFFPage(prefix, at: start, order)
    else { return nil }
    if first.isDNG { return "Adobe raw (DNG)" }
    // As in TIFF/EP (ISO 12234-2), on which most of them are based. Other programs put the full image first, or on a
    // later page.
    guard first.hasPagesInside, !hasFullImage(from: first, prefix, order) else { return nil }
    return "Camera raw (such as NEF and ARW)"
  }

  /// Returns true unless all pages from `first` on are reduced images.
  private static func hasFullImage(from first: TIFFPage, _ prefix: Span<UInt8>, _ order: ByteOrder) -> Bool {
    var page = first
    for _ in 0..<maxPages {
      if !page.isReduced { return true }
      if page.next == 0 { return false }
      guard let next = TIFFPage(prefix, at: page.next, order) else { return true }
      page = next
    }
    return true
  }
}

/// A directory of a TIFF file (TIFF 6.0, section 2).
private struct TIFFPage {
  private(set) var isReduced = false
  private(set) var hasPagesInside = false
  private(set) var isDNG = false
  /// The offset of the next directory; 0 after the last one.
  let next: Int

  /// Reads the directory at `offset`; nil unless it is complete.
  init?(_ file: Span<UInt8>, at offset: Int, _ order: ByteOrder) {
    guard let count = file.uint16(at: offset, order), let next = file.uint32(at: offset + 2 + 12 * count, order) else {
      return nil
    }
    self.next = next
    for entry in (0..<count).map({ offset + 2 + 12 * $0 }) {
      switch file.uint16(at: entry, order) {
      case Self.dngVersion: isDNG = true
      case Self.newSubfileType: isReduced = (file.uint32(at: entry + 8, order) ?? 0) & 1 == 1
      case Self.subIFDs: hasPagesInside = true
      default: break
      }
    }
  }

  // The tags that distinguish these files: of TIFF 6.0, of its supplement 1, and of DNG.
  private static let (newSubfileType, subIFDs, dngVersion) = (254, 330, 50706)
}
