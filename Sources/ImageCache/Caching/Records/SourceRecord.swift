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
