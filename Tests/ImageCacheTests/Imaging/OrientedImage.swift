import TestSupport

@testable import ImageCache

/// Writes files that store an image in one of the eight orientations, so that it is displayed upright.
enum OrientedImage {
  /// The format of the file, and the layout of its pixels.
  enum Kind: CaseIterable {
    case jpeg, png, grayPNG, alphaPNG

    fileprivate var layout: PixelLayout {
      switch self {
      case .jpeg, .png: .rgb
      case .grayPNG: .gray
      case .alphaPNG: .rgba
      }
    }
  }

  /// Returns the file of an image. `color` returns the red, green, blue and alpha of a pixel; a gray file has its
  /// green.
  static func file(
    _ kind: Kind, _ orientation: Orientation, size: PixelSize, color: (_ x: Int, _ y: Int) -> [UInt8]
  ) throws -> [UInt8] {
    let bitmap = try Bitmap(size: size, layout: kind.layout)
    let (samples, channels) = (bitmap.planes[0].samples, kind.layout.channels)
    for y in 0..<size.height {
      for x in 0..<size.width {
        let color = color(x, y)
        for channel in 0..<channels {
          samples[(y * size.width + x) * channels + channel] = channels == 1 ? color[1] : color[channel]
        }
      }
    }
    let stored = try bitmap.oriented(inverse(of: orientation))
    // TIFF 6.0: a little-endian directory with the tag 0x0112, a short.
    let exif = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, UInt8(orientation.rawValue)] + zeros(7)
    let spec = ThumbnailSpec(width: 1, quality: 95)
    if kind == .jpeg {
      let (file, segment) = (try JPEGEncoder(spec).encode(stored), Array("Exif\0\0".utf8) + exif)
      return file[..<2] + [0xFF, 0xE1, 0, UInt8(segment.count + 2)] + segment + file[2...]
    }
    // The chunk follows the header.
    let file = try PNGEncoder(spec).encode(stored)
    return file[..<33] + SampleImage.pngChunk("eXIf", exif) + file[33...]
  }

  private static func inverse(of orientation: Orientation) -> Orientation {
    switch orientation {
    case .turnedRight: .turnedLeft
    case .turnedLeft: .turnedRight
    default: orientation
    }
  }

  private static func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }
}
