extension AVIFEncoder {
  /// Returns the size in the first image spatial extents property (ISO/IEC 23008-12:2022, section 6.5.3), which is that
  /// of the image in every file of ``AVIFEncoder``. Nil for other files.
  static func size(of file: Span<UInt8>) -> PixelSize? {
    guard file.has("ftypavif", at: 4), let meta = contents("meta", in: 0..<file.count, of: file),
      // Version and flags come first.
      let properties = contents("iprp", in: meta.dropFirst(4), of: file),
      let container = contents("ipco", in: properties, of: file),
      let extents = contents("ispe", in: container, of: file), extents.count >= 12,
      let width = file.uint32(at: extents.lowerBound + 4), let height = file.uint32(at: extents.lowerBound + 8)
    else { return nil }
    return PixelSize(width: width, height: height)
  }

  /// The end of the last box.
  static func end(of file: Span<UInt8>) -> Int? {
    var offset = 0
    while let size = file.uint32(at: offset), size >= 8, size <= file.count - offset { offset += size }
    return offset
  }

  /// Returns the place of the contents of the first box of a type (ISO/IEC 14496-12:2022, section 4.2).
  private static func contents(_ type: StaticString, in boxes: Range<Int>, of file: Span<UInt8>) -> Range<Int>? {
    var rest = boxes
    while let size = file.uint32(at: rest.lowerBound), size >= 8, size <= rest.count {
      let end = rest.lowerBound + size
      if file.has(type, at: rest.lowerBound + 4) { return rest.lowerBound + 8..<end }
      rest = end..<rest.upperBound
    }
    return nil
  }
}
