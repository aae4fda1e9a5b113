/// An image format that can be decoded and encoded.
public enum ImageFormat: String, CaseIterable, Hashable, Sendable {
  /// JPEG (ITU-T T.81).
  case jpeg
  /// PNG (W3C PNG Specification, Third Edition).
  case png

  /// The usual file name extension, without a dot: `jpg` or `png`.
  public var fileExtension: String {
    switch self {
    case .jpeg: "jpg"
    case .png: "png"
    }
  }
}
