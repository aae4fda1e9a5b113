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
