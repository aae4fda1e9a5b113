extension CacheInspector {
  /// Returns the source of `key`; nil if there is none or it is damaged.
  public func source(of key: SourceKey) throws(DiskCacheError) -> ListedSource? {
    try generation.read { try SourcePage(keys: key...key, limit: 1, in: $0).sources.first }
  }

  /// Returns all sources of `url`: one for each set of header fields and credentials with which it was requested. Reads
  /// the whole cache.
  public func sources(ofURL url: String) throws -> [ListedSource] {
    var found: [ListedSource] = []
    try forEachSource { if $0.source.url == url { found.append($0) } }
    return found
  }

  /// Returns the sources whose key begins with `digits`, in key order; empty if `digits` are not hexadecimal.
  ///
  /// - Parameters:
  ///   - digits: At most 32 digits, in lower or upper case.
  ///   - limit: The most sources to return. Default 10.
  public func sources(withPrefix digits: String, limit: Int = 10) throws(DiskCacheError) -> [ListedSource] {
    guard let keys = SourceKey.range(withPrefix: digits) else { return [] }
    return try generation.read { try SourcePage(keys: keys, limit: limit, in: $0).sources }
  }

  /// Returns a thumbnail of the source `key` with its bytes; nil if it is missing or fails its checksum.
  public func thumbnail(_ spec: ThumbnailSpec, of key: SourceKey, url: String) throws(DiskCacheError) -> Thumbnail? {
    try generation.read { database in
      var finder = try EntryFinder(in: database, names: SpecNames())
      guard case .found(_, let found) = try finder.find(CacheLookup(key: key, url: url, specs: [spec])) else {
        return nil
      }
      return found[spec]
    }
  }
}

extension SourceKey {
  /// Creates a key from its ``description``; nil for any other text.
  public init?(_ description: String) {
    guard description.utf8.count == 32, let range = Self.range(withPrefix: description) else { return nil }
    self = range.lowerBound
  }

  /// Returns the keys whose description begins with `digits`; nil if these are empty, too many, or not hexadecimal.
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
  /// Compares two keys in the order of their descriptions.
  public static func < (left: SourceKey, right: SourceKey) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}
