/// The record of a source: everything that the cache knows about it except its thumbnails.
struct SourceRecord {
  var key: SourceKey
  var source: StoredSource
  /// The ``Renderer/edition`` that stored the source.
  var rendererEdition: Int

  /// True for a failure of another renderer edition. This one may succeed, so the failure counts as missing.
  var isOutdated: Bool {
    if case .failure = source.content { return rendererEdition != Renderer.edition }
    return false
  }

  /// The most bytes of a URL, of a failure code and of a failure message. A source with a longer text is not stored.
  private static let longestURL = 1 << 17
  fileprivate static let longestCode = 256
  fileprivate static let longestMessage = 1 << 13

  /// Returns the record of `source` as stored under `key`; nil if one of its texts or numbers exceeds its limit.
  static func encode(
    _ source: StoredSource, key: SourceKey, rendererEdition: Int = Renderer.edition
  ) -> [UInt8]? {
    guard source.url.utf8.count <= longestURL, source.finalURL?.utf8.count ?? 0 <= longestURL,
      source.policy.packed.bytes.count <= PackedFields.longest, source.content.fitsRecord
    else { return nil }
    return RecordFrame.seal(.source) { writer in
      writer.add(raw: key.bytes)
      writer.add(source.url)
      writer.add(source.finalURL)
      writer.add(Int32(truncatingIfNeeded: source.status))
      source.policy.pack(into: &writer)
      writer.add(Int32(truncatingIfNeeded: rendererEdition))
      source.content.pack(into: &writer)
    }
  }

  /// Decodes a record; nil if it is damaged.
  ///
  /// - Parameters:
  ///   - record: The bytes of the record.
  ///   - url: The URL that the record probably has. If it does, this string is used instead of a new one.
  init?(_ record: UnsafeRawBufferPointer, expecting url: String? = nil) {
    guard var reader = RecordFrame.open(record, .source) else { return nil }
    let key = SourceKey(bytes: [UInt8](reader.raw(16)))
    let utf8 = reader.utf8(atMost: Self.longestURL)
    let finalURL = reader.text(atMost: Self.longestURL)
    let status = Int(reader.number(Int32.self))
    let policy = CachePolicy(&reader)
    let renderer = Int(reader.number(Int32.self))
    guard let content = StoredSource.Content(&reader), reader.isComplete, let key, let utf8, let policy else {
      return nil
    }
    self.key = key
    rendererEdition = renderer
    source = StoredSource(
      url: Self.text(utf8, expecting: url), finalURL: finalURL, status: status, policy: policy, content: content)
  }

  private static func text(_ utf8: UnsafeRawBufferPointer, expecting text: String?) -> String {
    if var text, text.withUTF8({ utf8.elementsEqual(UnsafeRawBufferPointer($0)) }) { return text }
    return String(decoding: utf8, as: UTF8.self)
  }
}

extension StoredSource.Content {
  fileprivate var fitsRecord: Bool {
    switch self {
    case .image(let image, _, let bytes):
      UInt32(exactly: image.size.width) != nil && UInt32(exactly: image.size.height) != nil && bytes <= 1 << 40
    case .failure(let code, let message, _):
      code.utf8.count <= SourceRecord.longestCode && message.utf8.count <= SourceRecord.longestMessage
    }
  }

  fileprivate func pack(into writer: inout RecordWriter) {
    switch self {
    case .image(let image, let digest, let bytes):
      writer.add(UInt8(0))
      writer.add(image.format.rawValue)
      writer.add(UInt32(truncatingIfNeeded: image.size.width))
      writer.add(UInt32(truncatingIfNeeded: image.size.height))
      writer.add(amount: bytes)
      writer.add(raw: digest.bytes)
    case .failure(let code, let message, let digest):
      writer.add(UInt8(digest == nil ? 1 : 2))
      writer.add(code)
      writer.add(message)
      if let digest { writer.add(raw: digest.bytes) }
    }
  }

  fileprivate init?(_ reader: inout RecordReader) {
    switch reader.number(UInt8.self) {
    case 0:
      let format = reader.text(atMost: 16).flatMap(SourceFormat.init(rawValue:))
      let size = PixelSize(width: Int(reader.number(UInt32.self)), height: Int(reader.number(UInt32.self)))
      let bytes = reader.amount()
      let sides = 1...DecodingLimits.longestSide
      guard let digest = BodyDigest(bytes: [UInt8](reader.raw(32))), let format, let bytes,
        sides ~= size.width, sides ~= size.height
      else { return nil }
      self = .image(SourceImage(size: size, format: format), digest: digest, bytes: bytes)
    case let tag where tag == 1 || tag == 2:
      let (code, message) = (
        reader.text(atMost: SourceRecord.longestCode), reader.text(atMost: SourceRecord.longestMessage)
      )
      let digest = tag == 2 ? BodyDigest(bytes: [UInt8](reader.raw(32))) : nil
      guard let code, let message, tag == 1 || digest != nil else { return nil }
      self = .failure(code: code, message: message, digest: digest)
    default: return nil
    }
  }
}

// A stored policy keeps what was computed from its header fields, so that a hit parses none of them. A change of these
// computations needs a new version of the record.
extension CachePolicy {
  /// Adds the policy to a record.
  fileprivate func pack(into writer: inout RecordWriter) {
    writer.add(Int32(truncatingIfNeeded: status))
    for number in [requestedAt, respondedAt, lifetime, initialAge] { writer.add(amount: max(0, number)) }
    writer.add(flags)
    writer.add(amount: control.maxAge)
    writer.add(amount: control.staleIfError)
    writer.add(UInt32(packed.bytes.count))
    writer.add(raw: packed.bytes)
  }

  /// Reads a policy; nil if a required number is missing.
  init?(_ reader: inout RecordReader) {
    status = Int(reader.number(Int32.self))
    guard let requestedAt = reader.amount(), let respondedAt = reader.amount(), let lifetime = reader.amount(),
      let initialAge = reader.amount()
    else { return nil }
    (self.requestedAt, self.respondedAt) = (requestedAt, respondedAt)
    (self.lifetime, self.initialAge) = (lifetime, initialAge)
    let flags = reader.number(UInt8.self)
    var control = CacheControl(nil)
    (control.noStore, control.noCache) = (flags & 1 != 0, flags & 2 != 0)
    control.mustRevalidate = flags & 4 != 0
    (control.maxAge, control.staleIfError) = (reader.amount(), reader.amount())
    self.control = control
    variesByEverything = flags & 8 != 0
    let length = Int(reader.number(UInt32.self))
    guard length <= PackedFields.longest else { return nil }
    packed = PackedFields(bytes: [UInt8](reader.raw(length)))
  }

  private var flags: UInt8 {
    (control.noStore ? 1 : 0) | (control.noCache ? 2 : 0) | (control.mustRevalidate ? 4 : 0)
      | (variesByEverything ? 8 : 0)
  }
}

/// The record of the file that a source was made from. The body of the record is the file, which its SHA-256 digest
/// verifies; a second checksum over the whole file would take time and prove nothing more.
struct OriginalRecord {
  var digest: BodyDigest

  /// Returns the record of the file of `digest`.
  static func encode(_ digest: BodyDigest) -> [UInt8] {
    RecordFrame.seal(.original) { $0.add(raw: digest.bytes) }
  }

  /// Decodes a record; nil if it is damaged.
  init?(_ record: UnsafeRawBufferPointer) {
    guard var reader = RecordFrame.open(record, .original), let digest = BodyDigest(bytes: [UInt8](reader.raw(32))),
      reader.isComplete
    else { return nil }
    self.digest = digest
  }
}

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
