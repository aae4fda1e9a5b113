/// The downloaded files in the memory tier, bounded in bytes.
struct MemoryOriginals: Sendable {
  private struct Original: Sendable {
    let digest: BodyDigest
    let bytes: [UInt8]
  }

  /// Nil if nothing is kept.
  private let files: MemoryCache<SourceKey, Original>?

  /// - Parameter byteLimit: The most bytes of all files; none are kept if it is 0 or less.
  init(byteLimit: Int) { files = byteLimit > 0 ? MemoryCache(costLimit: byteLimit) : nil }

  /// Stores the file of `source`, and removes an older one that is not the file of `source`. A response that must not
  /// be stored leaves no file behind (RFC 9111, section 5.2.2.5).
  ///
  /// - Parameter bytes: The whole file; empty if it is not at hand. Then an unchanged file stays.
  func store(_ bytes: [UInt8], of source: StoredSource, for key: SourceKey) {
    guard let files else { return }
    guard source.policy.isStorable, let digest = source.digest else { return files.remove(key) }
    if !bytes.isEmpty {
      files.insert(Original(digest: digest, bytes: bytes), for: key, cost: bytes.capacity + 256)
    } else if let held = files.value(for: key), held.digest != digest {
      files.remove(key)
    }
  }

  /// Returns the file of `source`; empty if it was not kept, or has changed.
  func bytes(of source: StoredSource, for key: SourceKey) -> [UInt8] {
    guard let held = files?.value(for: key), held.digest == source.digest else { return [] }
    return held.bytes
  }

  /// Removes the file of `key`.
  func remove(_ key: SourceKey) { files?.remove(key) }

  /// Removes all files.
  func removeAll() { files?.removeAll() }

  /// The number of files and their total size in bytes.
  var usage: (count: Int, cost: Int) { files?.usage ?? (0, 0) }
}
