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
      return thumbnail.isWhole ? thumbnail : nil
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
