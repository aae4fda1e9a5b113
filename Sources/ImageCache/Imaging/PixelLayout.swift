/// What the samples of a pixel are; the raw value is their number. Eight bits each, alpha is last.
enum PixelLayout: Int, Sendable {
  case gray = 1
  case grayAlpha
  case rgb
  case rgba

  var channels: Int { rawValue }
  var hasAlpha: Bool { self == .grayAlpha || self == .rgba }
  var isGray: Bool { self == .gray || self == .grayAlpha }

  var withAlpha: PixelLayout { isGray ? .grayAlpha : .rgba }
  var withoutAlpha: PixelLayout { isGray ? .gray : .rgb }
}
