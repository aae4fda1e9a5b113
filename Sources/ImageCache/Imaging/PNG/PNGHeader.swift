/// The header of a PNG file.
struct PNGHeader: Sendable {
  /// The properties that every format has.
  var image: ImageHeader
  /// True if the file has an ICC profile, which is compressed.
  var hasProfile = false
}
