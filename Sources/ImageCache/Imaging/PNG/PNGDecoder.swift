import CImage

extension Bitmap {
  /// Decodes a PNG file and sets `profile` to its ICC profile, or to nil if it has none.
  static func decodingPNG(
    _ bytes: [UInt8], header: ImageHeader, profile: inout [UInt8]?, warnings: inout [String]
  ) throws(ImageError) -> Bitmap {
    let bitmap = try Bitmap(size: header.storedSize, layout: header.layout)
    let capacity = header.hasCompressedProfile ? ICCSegments.maxBytes : 0
    let buffer = try CImageCall.allocate(capacity)
    defer { CImageCall.free(buffer) }
    var room = CImageProfileRoom(bytes: capacity > 0 ? buffer : nil, capacity: capacity, count: 0)
    try CImageCall.run(&warnings) { cimage_png_decode(bytes, bytes.count, bitmap.planes[0].view, &room, $0) }
    profile = room.count > 0 ? Array(UnsafeBufferPointer(start: buffer, count: room.count)) : nil
    return bitmap
  }

  /// Encodes a bitmap of any layout except ``PixelLayout/planes`` as a PNG file.
  func encodedPNG() throws(ImageError) -> [UInt8] {
    let view = planes[0].view
    let capacity = cimage_encoded_bound(view)
    return try CImageCall.encode(capacity: capacity) { cimage_png_encode(view, $0, capacity, $1, $2) }
  }
}
