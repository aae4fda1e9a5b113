/// The channels of a bitmap, each sample 8 bits.
enum PixelLayout: Hashable, Sendable {
  case gray
  case grayAlpha
  case rgb
  case rgba
  /// Luma and two chroma channels, as in JPEG, each in a separate plane.
  case planes

  /// The number of interleaved samples per pixel. Alpha is the last.
  var channels: Int {
    switch self {
    case .gray, .planes: 1
    case .grayAlpha: 2
    case .rgb: 3
    case .rgba: 4
    }
  }

  var hasAlpha: Bool { self == .grayAlpha || self == .rgba }
  var isGray: Bool { self == .gray || self == .grayAlpha }

  var withAlpha: PixelLayout { isGray ? .grayAlpha : .rgba }
  var withoutAlpha: PixelLayout { isGray ? .gray : .rgb }
}

/// One plane of a ``Bitmap``, which owns the memory.
struct Plane {
  /// The first row.
  let samples: UnsafeMutablePointer<UInt8>
  /// The size, and the part of the image that the plane shows.
  let shape: PlaneShape
  /// The number of interleaved samples per pixel.
  let channels: Int

  var size: PixelSize { shape.size }
  /// The number of bytes from one row to the next.
  var stride: Int { size.width * channels }
}

/// The size of a plane, and the part of the stored image that it shows.
struct PlaneShape: Hashable {
  /// The number of columns and rows.
  var size: PixelSize
  /// The area that the plane covers, in pixels of the stored image.
  var area: PixelBox

  /// Returns the columns that show the box, from left to right.
  func columns(_ box: PixelBox) -> ClosedRange<Double> {
    let density = Double(size.width) / area.width
    return (box.left - area.left) * density...(box.right - area.left) * density
  }

  /// Returns the rows that show the box, from top to bottom.
  func rows(_ box: PixelBox) -> ClosedRange<Double> {
    let density = Double(size.height) / area.height
    return (box.top - area.top) * density...(box.bottom - area.top) * density
  }

  /// The plane at half the size, without an odd last row or column; nil if a side is 1.
  var halved: PlaneShape? {
    guard min(size.width, size.height) >= 2 else { return nil }
    let half = size.divided(by: 2, .down)
    let across = Double(half.width * 2) / Double(size.width), down = Double(half.height * 2) / Double(size.height)
    return PlaneShape(size: half, area: area.stretched(across: across, down: down))
  }

  /// Returns true if this plane has at least four samples per sample of `target` in both directions.
  func isFourTimes(_ target: PlaneShape) -> Bool {
    let (columns, rows) = (columns(target.area), rows(target.area))
    return columns.upperBound - columns.lowerBound >= Double(4 * target.size.width)
      && rows.upperBound - rows.lowerBound >= Double(4 * target.size.height)
  }
}
