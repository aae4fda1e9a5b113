/// The record of a thumbnail. It names the bytes that the thumbnail was made from, but no URL: the same bytes and the
/// same spec always give the same thumbnail. The body of the record is the encoded thumbnail.
struct ThumbnailRecord {
  /// The digest of the file that the thumbnail was made from.
  var digest: BodyDigest
  /// The ``ThumbnailSpec/cacheText`` of the spec, which includes the renderer version.
  var specText: String
  var size: PixelSize
  var format: OutputFormat

  /// The most bytes of a spec's text.
  private static let longestSpec = 512

  /// Returns the record of `thumbnail`, made from the file of `digest`; nil if a number exceeds its limit.
  static func encode(_ thumbnail: Thumbnail, specText: String, digest: BodyDigest) -> [UInt8]? {
    guard let width = UInt32(exactly: thumbnail.size.width), let height = UInt32(exactly: thumbnail.size.height),
      specText.utf8.count <= longestSpec
    else { return nil }
    return RecordFrame.seal(.thumbnail, body: thumbnail.bytes) { writer in
      writer.add(raw: digest.bytes)
      writer.add(specText)
      writer.add(width)
      writer.add(height)
      writer.add(thumbnail.format.rawValue)
    }
  }

  /// Decodes a record; nil if it or `body` is damaged.
  init?(_ record: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) {
    guard let reader = RecordFrame.open(record, .thumbnail, body: body) else { return nil }
    self.init(reader)
  }

  /// Decodes a record without its body, whose checksum therefore remains unknown; nil if the record cannot be read.
  init?(withoutBody record: UnsafeRawBufferPointer) {
    guard let reader = RecordFrame.fields(of: record, .thumbnail) else { return nil }
    self.init(reader)
  }

  private init?(_ reader: RecordReader) {
    var reader = reader
    let digest = BodyDigest(bytes: [UInt8](reader.raw(32)))
    let specText = reader.text(atMost: Self.longestSpec)
    let size = PixelSize(width: Int(reader.number(UInt32.self)), height: Int(reader.number(UInt32.self)))
    let format = reader.text(atMost: 16).flatMap(OutputFormat.init(rawValue:))
    guard reader.isComplete, let digest, let specText, let format else { return nil }
    (self.digest, self.specText, self.size, self.format) = (digest, specText, size, format)
  }
}
