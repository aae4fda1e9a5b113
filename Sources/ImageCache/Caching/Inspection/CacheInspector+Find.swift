extension CacheInspector {
  /// The source of `key`; nil when there is none, or when it is damaged.
  public func source(of key: SourceKey) throws(DiskCacheError) -> ListedSource? {
    try generation.read { try SourcePage(keys: key...key, limit: 1, in: $0).sources.first }
  }

  /// The sources whose key begins with `digits`, in the order of their keys; none when those are no hexadecimal
  /// digits.
  ///
  /// - Parameters:
  ///   - digits: At most 32, in lower or upper case.
  ///   - limit: The most sources that are returned.
  public func sources(withPrefix digits: String, limit: Int = 10) throws(DiskCacheError) -> [ListedSource] {
    guard let keys = SourceKey.range(withPrefix: digits) else { return [] }
    return try generation.read { try SourcePage(keys: keys, limit: limit, in: $0).sources }
  }

  /// A thumbnail of the source `key` with its picture; nil when it is not there or fails its checksum.
  public func thumbnail(_ spec: ThumbnailSpec, of key: SourceKey, url: String) throws(DiskCacheError) -> Thumbnail? {
    try generation.read { database in
      guard case .found(_, let found, _) = try DiskReader.find(key, url: url, specs: [spec], in: database) else {
        return nil
      }
      return found[spec]
    }
  }
}

extension SourceKey {
  /// The key that ``description`` gave; nil for any other text.
  public init?(_ description: String) {
    guard description.utf8.count == 32, let range = Self.range(withPrefix: description) else { return nil }
    self = range.lowerBound
  }

  /// The keys whose description begins with `digits`; nil when those are none, too many, or not hexadecimal.
  static func range(withPrefix digits: String) -> ClosedRange<SourceKey>? {
    let digits = digits.lowercased()
    guard (1...32).contains(digits.utf8.count), digits.utf8.allSatisfy({ UInt8(ascii: "0") <= $0 }),
      let lowest = SourceKey(padding: digits, with: "0"), let highest = SourceKey(padding: digits, with: "f")
    else { return nil }
    return lowest...highest
  }

  private init?(padding digits: String, with digit: Character) {
    let text = digits + String(repeating: digit, count: 32 - digits.utf8.count)
    guard let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16) else {
      return nil
    }
    (self.high, self.low) = (high, low)
  }
}

extension SourceKey: Comparable {
  /// The order of the descriptions.
  public static func < (left: SourceKey, right: SourceKey) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}
