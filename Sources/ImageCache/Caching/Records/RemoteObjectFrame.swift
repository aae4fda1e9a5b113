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
