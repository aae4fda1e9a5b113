/// BMP files and icons written byte by byte.
enum SampleBitmap {
  /// Returns the bytes of integers, each of `size` bytes, in little-endian order.
  static func bytes(_ values: [Int], size: Int = 4) -> [UInt8] {
    values.flatMap { value in (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
  }

  /// Returns a header of `length` bytes, 40 or more, followed by masks if there are any and the version has none.
  static func header(
    width: Int, height: Int, bits: Int, compression: Int = 0, masks: [Int] = [], length: Int = 40,
    profile: Range<Int>? = nil
  ) -> [UInt8] {
    let start = bytes([length, width, height]) + bytes([1, bits], size: 2)
    let fields = start + bytes([compression, 0, 0, 0, 0, 0])
    guard length > 40 else { return fields + bytes(masks) }
    let padded = masks + Array(repeating: 0, count: 4 - masks.count)
    let colors = bytes([profile == nil ? 0 : 0x4D42_4544]) + Array(repeating: 0, count: 48)
    let location = bytes([4, profile?.lowerBound ?? 0, profile?.count ?? 0, 0])
    return Array((fields + bytes(padded) + colors + location).prefix(length))
  }

  /// Returns a file with this header and these pixels.
  static func file(_ header: [UInt8], palette: [UInt8] = [], _ pixels: [UInt8]) -> [UInt8] {
    let start = 14 + header.count + palette.count
    return Array("BM".utf8) + bytes([start + pixels.count, 0, start]) + header + palette + pixels
  }

  /// Returns an icon with these images.
  static func icon(_ images: [[UInt8]], type: Int = 1) -> [UInt8] {
    var offset = 6 + 16 * images.count
    var directory = bytes([0, type, images.count], size: 2)
    for image in images {
      directory += bytes([0, 0, image.count, offset])
      offset += image.count
    }
    return directory + images.joined()
  }

  /// Returns an image of an icon in one color without transparent pixels. `bits` is 24 or 32.
  static func entry(
    width: Int, height: Int, bits: Int = 24, red: UInt8 = 0, green: UInt8 = 0, blue: UInt8 = 0
  ) -> [UInt8] {
    let pixel = [blue, green, red] + (bits == 32 ? [255] : [])
    let pixels = Array(repeating: pixel, count: width).joined()
    let padding = Array(repeating: UInt8(0), count: (4 - pixels.count % 4) % 4)
    let mask = Array(repeating: UInt8(0), count: (width + 31) / 32 * 4 * height)
    return header(width: width, height: height * 2, bits: bits)
      + Array(repeating: pixels + padding, count: height).joined() + mask
  }
}
