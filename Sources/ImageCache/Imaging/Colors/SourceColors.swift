/// The colors that a file declares.
enum SourceColors: Hashable, Sendable {
  /// The bytes of an ICC profile, not a digest, so that a file with a colliding digest cannot change the colors of
  /// another file.
  case profile([UInt8])
  /// A description by a few numbers.
  case encoding(ColorEncoding)

  /// The number of bytes of a profile.
  var byteCount: Int {
    if case .profile(let bytes) = self { bytes.count } else { 0 }
  }
}
