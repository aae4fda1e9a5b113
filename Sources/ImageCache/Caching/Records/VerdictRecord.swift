/// The record of a file that a renderer version could not decode. The same bytes from any URL are then known to fail.
struct VerdictRecord {
  /// The digest of the file.
  var digest: BodyDigest
  var error: ImageError
  /// The renderer version that could not decode the file.
  var rendererVersion: Int

  /// Returns the record of a file that a renderer version could not decode. Default: this version.
  static func encode(
    _ error: ImageError, of digest: BodyDigest, rendererVersion: Int = Renderer.version
  ) -> [UInt8] {
    RecordFrame.seal(.verdict) { writer in
      writer.add(raw: digest.bytes)
      writer.add(Int32(truncatingIfNeeded: rendererVersion))
      writer.add(error.code.rawValue)
      writer.add(error.message)
    }
  }

  /// Decodes a record; nil if it is damaged or has a code that this version does not know.
  init?(_ record: UnsafeRawBufferPointer) {
    guard var reader = RecordFrame.open(record, .verdict) else { return nil }
    let digest = BodyDigest(bytes: [UInt8](reader.raw(32)))
    let renderer = Int(reader.number(Int32.self))
    let code = reader.text(atMost: 256).flatMap(ImageError.Code.init(rawValue:))
    let message = reader.text(atMost: 1 << 13)
    guard reader.isComplete, let digest, let code, let message else { return nil }
    (self.digest, error, rendererVersion) = (digest, ImageError(code, message), renderer)
  }
}
