import CXXHash

/// An XXH3-64 checksum over everything that a stored row means, so that damage to any part makes the row a miss.
struct Checksum {
  private var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(512) }

  /// Adds a text or its absence.
  mutating func add(_ text: String?) {
    if var text { text.withUTF8 { bytes.append(contentsOf: $0) } }
    bytes.append(text == nil ? 0 : 1)
  }

  /// Adds a number.
  mutating func add(_ number: Int) { add(UInt64(bitPattern: Int64(number))) }

  /// Adds the key of a row.
  mutating func add(_ key: SourceKey) {
    add(key.high)
    add(key.low)
  }

  /// Adds a digest.
  mutating func add(_ digest: BodyDigest) {
    for index in digest.words.indices { add(digest.words[index]) }
  }

  private mutating func add(_ word: UInt64) {
    withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Returns the checksum of everything added so far, followed by `body`.
  func value(with body: [UInt8] = []) -> Int {
    Int(Int64(bitPattern: xxh3_64(body, body.count, xxh3_64(bytes, bytes.count, 0))))
  }
}

extension StoredSource {
  /// Returns the checksum of this source as stored under `key`.
  func checksum(for key: SourceKey) -> Int {
    var sum = Checksum()
    sum.add(key)
    sum.add(url)
    sum.add(finalURL)
    sum.add(status)
    policy.add(to: &sum)
    switch content {
    case .image(let image, let digest, let bytes):
      sum.add(image.format.rawValue)
      sum.add(digest)
      sum.add(image.size.width)
      sum.add(image.size.height)
      sum.add(bytes)
    case .failure(let code, let message, let digest):
      sum.add(code)
      sum.add(message)
      if let digest { sum.add(digest) }
    }
    return sum.value()
  }
}

extension CachePolicy {
  fileprivate func add(to sum: inout Checksum) {
    sum.add(requestedAt)
    sum.add(respondedAt)
    sum.add(status)
    fields.forEach { sum.add($0) }
  }
}

extension Thumbnail {
  /// Returns the checksum of this thumbnail as stored for the source `key`.
  func checksum(for key: SourceKey) -> Int {
    var sum = Checksum()
    sum.add(key)
    sum.add(spec)
    sum.add(format.rawValue)
    sum.add(size.width)
    sum.add(size.height)
    return sum.value(with: bytes)
  }
}
