import CCrypto

/// Names, writes and reads the objects of a cache that several machines share.
///
/// There are two kinds. The object of a source is small and is replaced when the source changes. The object of a
/// thumbnail is named after the bytes of the image and everything that determines its pixels, so it never changes.
///
/// Reading verifies everything: the tag over name and bytes, the key and the whole URL of a source, the digest, the
/// spec and the file of a thumbnail.
///
/// ```swift
/// func restoredSource(_ object: [UInt8], of url: String) -> StoredSource? {
///   RemoteObjectCodec(secret: nil).source(in: object, key: SourceKey(url: url), url: url)
/// }
/// ```
public struct RemoteObjectCodec: Sendable {
  /// The maximum length of the object of a source in bytes: 64 KiB.
  public static let maxSourceBytes = 64 << 10
  /// The maximum length of the object of a thumbnail in bytes: 8 MiB.
  public static let maxThumbnailBytes = 8 << 20

  private let frame: RemoteObjectFrame
  private let profile: String
  /// The part of the names that keeps objects of other keys and spaces apart; empty or with a slash at the end.
  private let folder: String

  /// Creates a codec.
  ///
  /// - Parameters:
  ///   - secret: The key of an HMAC-SHA256 over each object. Objects with another key, or without one, have other
  ///     names and are unusable. Nil for a SHA-256 digest, which proves nothing about the writer.
  ///   - inks: The profile of CMYK images without one, which is a part of the pixels. Default nil: none.
  ///   - space: A word of letters that keeps objects apart which should not be found by others. Default: none.
  public init(secret: [UInt8]?, inks: InkProfile? = nil, space: String = "") {
    frame = RemoteObjectFrame(key: secret)
    profile = inks.map { BodyDigest(of: $0.bytes).description } ?? ""
    let folders = [frame.keyID, space].filter { !$0.isEmpty }
    folder = folders.isEmpty ? "" : folders.joined(separator: "-") + "/"
  }

  /// Returns the name of the object of a source.
  public func name(of key: SourceKey) -> String { "s/\(folder)\(key)" }

  /// Returns the name of the object of a thumbnail that is made from the file of `digest`.
  public func name(of spec: ThumbnailSpec, from digest: BodyDigest) -> String {
    let file = "\(digest)"
    let fingerprint = BodyDigest(of: Array("\(spec.cacheText)\n\(profile)".utf8))
    return "t/\(folder)r\(Renderer.version)/\(file.prefix(2))/\(file)-\("\(fingerprint)".prefix(32))"
  }

  /// Returns the object of a source; nil if it is longer than ``maxSourceBytes``.
  public func object(of source: StoredSource, key: SourceKey) -> [UInt8]? {
    guard let record = SourceRecord.encode(source, key: key) else { return nil }
    return frame.seal(name(of: key), record: record).flatMap { $0.count <= Self.maxSourceBytes ? $0 : nil }
  }

  /// Returns the object of a thumbnail that was made from the file of `digest`; nil if it is longer than
  /// ``maxThumbnailBytes``.
  public func object(of thumbnail: Thumbnail, from digest: BodyDigest) -> [UInt8]? {
    guard thumbnail.bytes.count < Self.maxThumbnailBytes,
      let record = ThumbnailRecord.encode(thumbnail, specText: thumbnail.spec.cacheText, digest: digest)
    else { return nil }
    return frame.seal(name(of: thumbnail.spec, from: digest), record: record, body: thumbnail.bytes)
      .flatMap { $0.count <= Self.maxThumbnailBytes ? $0 : nil }
  }

  /// Reads the object of a source; nil unless it is the intact object of `key` and `url`.
  ///
  /// A failure counts only if it follows from the bytes of the file and this renderer would fail in the same way.
  public func source(in object: [UInt8], key: SourceKey, url: String) -> StoredSource? {
    object.withUnsafeBytes { bytes in
      guard let parts = frame.open(bytes, named: name(of: key)), parts.body.isEmpty,
        let record = SourceRecord(parts.record, expecting: url), record.key == key, record.source.url == url,
        !record.isOutdated, record.source.isShareable, record.source.policy.hasSendableValidators,
        record.source.status == record.source.policy.status
      else { return nil }
      return record.source
    }
  }

  /// Reads the object of a thumbnail; nil unless it is the intact object of `spec` and the file of `digest`.
  public func thumbnail(in object: [UInt8], _ spec: ThumbnailSpec, from digest: BodyDigest) -> Thumbnail? {
    object.withUnsafeBytes { bytes in
      guard let parts = frame.open(bytes, named: name(of: spec, from: digest)),
        let record = ThumbnailRecord(parts.record, body: parts.body), record.digest == digest,
        record.specText == spec.cacheText, record.format.suits(spec)
      else { return nil }
      let thumbnail = Thumbnail(spec: spec, size: record.size, format: record.format, bytes: [UInt8](parts.body))
      let isWhole = spec.format == .original ? BodyDigest(of: thumbnail.bytes) == digest : thumbnail.isWhole
      return isWhole ? thumbnail : nil
    }
  }
}

extension StoredSource {
  /// True if users other than the one who requested the source may get it from a cache that they share, and can use it:
  /// an image, or a failure that follows from the bytes of the file alone. See ``CachePolicy/isShareable``.
  public var isShareable: Bool {
    guard policy.isShareable else { return false }
    switch content {
    case .image: return true
    case .failure(let code, _, let digest): return digest != nil && ImageError.Code(rawValue: code)?.isFinal == true
    }
  }

  /// The digest of the whole file; nil if it is unknown.
  public var digest: BodyDigest? {
    switch content {
    case .image(_, let digest, _): digest
    case .failure(_, _, let digest): digest
    }
  }

  /// Returns true if this response arrived later than that of `other`.
  public func isNewer(than other: StoredSource) -> Bool { policy.respondedAt > other.policy.respondedAt }
}

/// The frame around a record and its body on a server that several machines share.
///
/// The server, and whoever can write to it, may return anything: the bytes of another object, an older format, a part
/// of a file, an error page. So each object ends with a tag over its name and all its bytes: a SHA-256 digest, which
/// finds damage and mistaken names, or with a key an HMAC-SHA256, which only owners of the key can make.
///
/// ```
/// "thumbs-remote/1\n"  length of the record (4 bytes, little-endian)  record  body  tag (32 bytes)
/// ```
struct RemoteObjectFrame: Sendable {
  /// The parts of an object.
  struct Parts {
    let record: UnsafeRawBufferPointer
    let body: UnsafeRawBufferPointer
  }

  /// The first bytes of every object. A change of the format needs a new version in it.
  static let magic = Array("thumbs-remote/1\n".utf8)
  private static let tagSize = 32
  private static let headSize = magic.count + 4

  /// The secret key of the tags; nil for digests.
  let key: [UInt8]?

  /// Eight hexadecimal digits that identify the key without showing it; empty without a key. Writers with different
  /// keys use different names, so that they do not replace each other's objects.
  var keyID: String {
    guard let key, let tag = hmacSHA256(Array("thumbs-remote key".utf8), key: key) else { return "" }
    return tag.prefix(4).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  /// Returns the object called `name`; nil if it cannot be made.
  func seal(_ name: String, record: [UInt8], body: [UInt8] = []) -> [UInt8]? {
    guard let length = UInt32(exactly: record.count) else { return nil }
    var writer = RecordWriter(capacity: Self.headSize + record.count + body.count + Self.tagSize)
    writer.add(raw: Self.magic)
    writer.add(length)
    writer.add(raw: record)
    writer.add(raw: body)
    guard let tag = writer.bytes.withUnsafeBytes({ tag(of: name, $0) }) else { return nil }
    writer.add(raw: tag)
    return writer.bytes
  }

  /// Returns the parts of an object, valid as long as `object`; nil unless it is the intact object called `name`.
  func open(_ object: UnsafeRawBufferPointer, named name: String) -> Parts? {
    let end = object.count - Self.tagSize
    guard end >= Self.headSize, object.starts(with: Self.magic) else { return nil }
    let content = UnsafeRawBufferPointer(rebasing: object[..<end])
    guard let tag = tag(of: name, content), isEqualInConstantTime(tag, Array(object[end...])) else { return nil }
    var reader = RecordReader(UnsafeRawBufferPointer(rebasing: content[Self.magic.count...]))
    let record = reader.raw(Int(reader.number(UInt32.self)))
    guard !record.isEmpty else { return nil }
    return Parts(
      record: record, body: UnsafeRawBufferPointer(rebasing: content[(Self.headSize + record.count)...]))
  }

  private func tag(of name: String, _ content: UnsafeRawBufferPointer) -> [UInt8]? {
    // A name has no NUL, so two different pairs never give the same bytes.
    let message = Array(name.utf8) + [0] + content
    guard let key else { return BodyDigest(of: message).bytes }
    return hmacSHA256(message, key: key)
  }
}

/// Returns the HMAC-SHA256 (RFC 2104, FIPS 180-4) of `bytes` under `key`, 32 bytes; nil if libcrypto fails.
func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8]? {
  // An empty key would be no key for libcrypto.
  guard !key.isEmpty, let length = Int32(exactly: key.count) else { return nil }
  var tag = [UInt8](repeating: 0, count: 32)
  let isDone = bytes.withUnsafeBytes { bytes in
    HMAC(
      EVP_sha256(), key, length, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, &tag, nil)
  }
  return isDone == nil ? nil : tag
}

/// Returns true if both have the same bytes. The time depends only on their number, so it shows nobody how many of the
/// first bytes are right.
func isEqualInConstantTime(_ a: [UInt8], _ b: [UInt8]) -> Bool {
  a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
}
