/// The transform from the stored rows and columns of an image to the displayed ones (EXIF 2.32, tag 0x0112
/// `Orientation`).
enum Orientation: Int, CaseIterable, Sendable {
  case upright = 1
  case mirrored
  case upsideDown
  case flipped
  case transposed
  case turnedRight
  case transversed
  case turnedLeft

  /// True if stored rows are displayed as columns.
  var swapsSides: Bool { rawValue >= 5 }

  /// Converts the stored size of an image to its displayed size, or back.
  func applied(to size: PixelSize) -> PixelSize {
    swapsSides ? PixelSize(width: size.height, height: size.width) : size
  }

  /// Returns what is displayed of the part `box` of the stored image, whose size is `stored`.
  func displayed(_ box: PixelBox, in stored: PixelSize) -> PixelBox {
    inverse.stored(box, in: applied(to: stored))
  }

  /// The orientation that undoes this one.
  private var inverse: Orientation {
    switch self {
    case .turnedRight: .turnedLeft
    case .turnedLeft: .turnedRight
    default: self
    }
  }

  /// Returns the part of the stored image, whose size is `stored`, that is displayed as `box`.
  func stored(_ box: PixelBox, in stored: PixelSize) -> PixelBox {
    let box =
      swapsSides ? PixelBox(left: box.top, top: box.left, right: box.bottom, bottom: box.right) : box
    let (width, height) = (Double(stored.width), Double(stored.height))
    let isReversedAcross = [.mirrored, .upsideDown, .transversed, .turnedLeft].contains(self)
    let isReversedDown = [.flipped, .upsideDown, .transversed, .turnedRight].contains(self)
    return PixelBox(
      left: isReversedAcross ? width - box.right : box.left,
      top: isReversedDown ? height - box.bottom : box.top,
      right: isReversedAcross ? width - box.left : box.right,
      bottom: isReversedDown ? height - box.top : box.bottom)
  }
}

// MARK: EXIF

extension Orientation {
  /// A malformed EXIF block.
  struct BadEXIF: Error {
    let reason: String
  }

  /// Reads the orientation from an EXIF block: the first directory of a TIFF structure (EXIF 2.32, section 4.5). Nil if
  /// it has no orientation tag.
  init?(exif block: Span<UInt8>) throws(BadEXIF) {
    guard let order = ByteOrder(tiff: block), block.uint16(at: 2, order) == 42 else {
      throw BadEXIF(reason: "it has no TIFF header")
    }
    guard let directory = block.uint32(at: 4, order), let entries = block.uint16(at: directory, order) else {
      throw BadEXIF(reason: "its directory is outside the block")
    }
    guard let entry = try Self.entry(0x0112, in: block, from: directory + 2, count: entries, order) else { return nil }
    // A SHORT is in the first two of the four value bytes. Some writers use LONG.
    let isLong = block.uint16(at: entry + 2, order) == 4
    let value = isLong ? block.uint32(at: entry + 8, order) : block.uint16(at: entry + 8, order)
    guard let orientation = Orientation(rawValue: value ?? 0) else {
      throw BadEXIF(reason: "orientation \(value ?? 0) is undefined")
    }
    self = orientation
  }

  /// Returns the offset of the 12-byte entry for `tag`; nil if there is none.
  private static func entry(
    _ tag: Int, in block: Span<UInt8>, from start: Int, count: Int, _ order: ByteOrder
  ) throws(BadEXIF) -> Int? {
    for index in 0..<count {
      let offset = start + 12 * index
      guard offset + 12 <= block.count else { throw BadEXIF(reason: "its directory is truncated") }
      if block.uint16(at: offset, order) == tag { return offset }
    }
    return nil
  }
}
