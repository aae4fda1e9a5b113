/// The record of a file that a renderer could not decode. The same bytes from any URL are then known to fail.
struct VerdictRecord {
  /// The digest of the file.
  var digest: BodyDigest
  var error: ImageError
  /// The ``Renderer/edition`` that could not decode the file.
  var rendererEdition: Int

  /// Returns the record of a file that a renderer could not decode. Default: this edition.
  static func encode(
    _ error: ImageError, of digest: BodyDigest, rendererEdition: Int = Renderer.edition
  ) -> [UInt8] {
    RecordFrame.seal(.verdict) { writer in
      writer.add(raw: digest.bytes)
      writer.add(Int32(truncatingIfNeeded: rendererEdition))
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
    (self.digest, error, rendererEdition) = (digest, ImageError(code, message), renderer)
  }
}
