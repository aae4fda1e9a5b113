/// What the samples of a picture are, eight bits each.
enum PixelLayout: Hashable, Sendable {
  case gray
  case grayAlpha
  case rgb
  case rgba
  /// Luma and two planes of chroma, as JPEG keeps them: a plane of its own for each.
  case planes

  /// Samples a pixel where they stand side by side; alpha is the last.
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
