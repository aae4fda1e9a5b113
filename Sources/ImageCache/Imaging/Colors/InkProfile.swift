import CImage

/// An ICC profile of CMYK inks, for images that have none.
///
/// Without a profile, inks are assumed to be ideal: each absorbs only its own color. Browsers do the same, but photos
/// prepared for print then look too bright and too saturated.
public struct InkProfile: Hashable, Sendable {
  /// The bytes of the profile.
  public let bytes: [UInt8]

  /// Creates a profile from the contents of an ICC file (ICC.1:2010).
  ///
  /// - Throws: `badSpec` if `bytes` are not a profile that converts CMYK colors; `outOfMemory`.
  public init(_ bytes: [UInt8]) throws(ImageError) {
    var warnings: [String] = []
    guard try ColorTransform.making(bytes, model: .CMYK, warnings: &warnings) != nil else {
      throw ImageError(.badSpec, "It is not a valid ICC profile of CMYK inks.")
    }
    self.bytes = bytes
  }
}
