import CXXHash

/// XXH3-64 over everything that a stored row must mean, so that damage anywhere makes it a miss.
struct Checksum {
  private var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(512) }

  /// Takes a text, or its absence.
  mutating func add(_ text: String?) {
    if let text { bytes.append(contentsOf: text.utf8) }
    bytes.append(text == nil ? 0 : 1)
  }

  /// Takes a number.
  mutating func add(_ number: Int) {
    withUnsafeBytes(of: UInt64(bitPattern: Int64(number)).littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// The sum of what was taken, and of `body` after it.
  func value(with body: [UInt8] = []) -> Int64 {
    Int64(bitPattern: xxh3_64(body, body.count, xxh3_64(bytes, bytes.count, 0)))
  }
}

extension StoredSource {
  /// The checksum of this source as stored under `key`.
  func checksum(for key: SourceKey) -> Int64 {
    var sum = Checksum()
    sum.add(key.description)
    for text in [url, finalURL] { sum.add(text) }
    for number in [status, policy.requestedAt, policy.respondedAt, policy.status] { sum.add(number) }
    let fields = policy.fields
    for text in [
      fields.cacheControl, fields.expires, fields.date, fields.age, fields.entityTag, fields.lastModified, fields.vary,
    ] {
      sum.add(text)
    }
    switch content {
    case .picture(let image, let digest, let bytes):
      for text in [image.format.rawValue, digest.description] { sum.add(text) }
      for number in [image.size.width, image.size.height, bytes] { sum.add(number) }
    case .failure(let code, let message):
      for text in [code, message] { sum.add(text) }
    }
    return sum.value()
  }
}

extension Thumbnail {
  /// The checksum of this thumbnail as one of the source `key`.
  func checksum(for key: SourceKey) -> Int64 {
    var sum = Checksum()
    for text in [key.description, spec.cacheText, format.rawValue] { sum.add(text) }
    for number in [size.width, size.height] { sum.add(number) }
    return sum.value(with: bytes)
  }
}
