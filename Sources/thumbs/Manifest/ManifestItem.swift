/// An item as its file format gives it, before it has a place among the items of all manifests.
struct ManifestItem: Hashable, Sendable {
  /// What the item asks for.
  enum Content: Hashable, Sendable {
    /// The picture at this address.
    case url(String)
    /// Nothing, for this reason: the end of a sentence that begins with the item's place.
    case bad(String)
  }

  /// The line of the file, from 1; nil for the formats that are read as a tree.
  var line: Int?
  /// The name given to the item.
  var name: String?
  /// What the item asks for.
  var content: Content
  /// What it says beside that.
  var options: RowOptions

  /// An item from its parts. White space around the address and the name is no part of them.
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
  /// This item, with its addresses made absolute by `base`.
  func resolved(by base: AddressBase) -> ManifestItem {
    guard case .url(let url) = content else { return self }
    var resolved = self
    resolved.content = .url(base.resolve(url))
    resolved.options.mirrors = options.mirrors.map(base.resolve)
    resolved.options.depends += options.depends.map(base.resolve)
    return resolved
  }

  /// The entry of this item, which is number `number` (from 1) of the manifest called `manifest`
  /// and number `index` (from 0) of all.
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
  /// The text without the spaces, tabs and line ends around it.
  func trimmingWhitespace() -> String {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    guard let start = utf8.firstIndex(where: { !isSpace($0) }), let end = utf8.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return start == utf8.startIndex && utf8.index(after: end) == utf8.endIndex ? self : String(self[start...end])
  }
}
