/// Camera raw files that look like TIFF. Their first page is a small preview of the image, which follows in a format of
/// the camera.
enum CameraRaw {
  /// Returns the name of the format; nil for other files, and as long as `prefix` ends before the directory of the
  /// first page does.
  static func name(_ prefix: Span<UInt8>) -> String? {
    if prefix.has("II*\0\u{10}\0\0\0CR\u{2}", at: 0) { return "Canon raw (CR2)" }
    guard let order = ByteOrder(tiff: prefix), prefix.uint16(at: 2, order) == 42,
      let start = prefix.uint32(at: 4, order), let count = prefix.uint16(at: start, order)
    else { return nil }
    var (isReduced, hasPagesInside) = (false, false)
    for entry in (0..<count).map({ start + 2 + 12 * $0 }) {
      switch prefix.uint16(at: entry, order) {
      case dngVersion: return "Adobe raw (DNG)"
      case newSubfileType: isReduced = (prefix.uint32(at: entry + 8, order) ?? 0) & 1 == 1
      case subIFDs: hasPagesInside = true
      default: break
      }
    }
    // As in TIFF/EP (ISO 12234-2), on which most of them are based. Other programs put the full image first.
    return isReduced && hasPagesInside ? "Camera raw (such as NEF and ARW)" : nil
  }

  // The tags that distinguish these files: of TIFF 6.0, of its supplement 1, and of DNG.
  private static let (newSubfileType, subIFDs, dngVersion) = (254, 330, 50706)
}
