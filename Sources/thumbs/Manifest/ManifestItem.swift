/// An item as read from one file, before it has a place among the items of all manifests.
struct ManifestItem: Hashable, Sendable {
  /// The URL of an item, or the reason that it has none.
  enum Content: Hashable, Sendable {
    /// The URL of the image.
    case url(String)
    /// The reason that the item is unusable: the end of a sentence that begins with the item's place.
    case bad(String)
  }

  /// The line number, from 1; nil for formats that are not read by line (plist, JSON).
  var line: Int?
  /// The item's name.
  var name: String?
  /// The URL of the item, or the reason that it has none.
  var content: Content
  /// The values of the item's other columns.
  var options: RowOptions

  /// Creates an item, trimming whitespace around the URL and the name.
  init(line: Int? = nil, name: String? = nil, content: Content, options: RowOptions = RowOptions()) {
    self.line = line
    self.options = options
    let name = name?.trimmingWhitespace()
    self.name = name == "" ? nil : name
    if case .url(let url) = content {
      let url = url.trimmingWhitespace()
      self.content = url.isEmpty ? .bad("the URL is empty") : .url(url)
    } else {
      self.content = content
    }
  }
}

extension ManifestItem {
  /// Returns this item with its URLs resolved against `base`.
  func resolved(by base: BaseDirectory) -> ManifestItem {
    guard case .url(let url) = content else { return self }
    var resolved = self
    resolved.content = .url(base.resolve(url))
    resolved.options.mirrors = options.mirrors.map(base.resolve)
    resolved.options.depends += options.depends.map(base.resolve)
    return resolved
  }

  /// Returns the entry for this item, which is number `number` (from 1) in the manifest called `manifest` and has the
  /// place `index` (from 0) among the items of all manifests.
  func entry(index: Int, number: Int, manifest: String) -> ManifestEntry {
    switch content {
    case .url(let url):
      return .row(ManifestRow(index: index, line: line, name: name, url: url, options: options))
    case .bad(let reason):
      let place: ManifestError.Place = if let line { .line(line) } else { .item(number) }
      return .bad(BadRow(index: index, line: line, name: name, reason: "\(manifest), \(place): \(reason)."))
    }
  }
}

extension String {
  /// Returns the string without leading and trailing spaces, tabs and line ends.
  func trimmingWhitespace() -> String {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    guard let start = utf8.firstIndex(where: { !isSpace($0) }), let end = utf8.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return start == utf8.startIndex && utf8.index(after: end) == utf8.endIndex ? self : String(self[start...end])
  }
}
