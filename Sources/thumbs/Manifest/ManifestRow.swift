/// One image in a manifest.
struct ManifestRow: Hashable, Sendable {
  /// The place among the items of all manifests, from 0.
  var index: Int
  /// The line number, from 1; nil for formats that are not read by line (plist, JSON).
  var line: Int?
  /// The image's name; nil if the row has none.
  var name: String?
  /// The URL as written in the manifest, trimmed; a relative URL is resolved.
  var url: String
  /// The values of the row's other columns.
  var options = RowOptions()
  /// The path of the manifest; nil if there is only one.
  var manifest: String?
}

extension ManifestRow {
  /// The URLs that the row may be fetched from: its own and its mirrors.
  var urls: [String] { [url] + options.mirrors }
}

/// An unusable item of a manifest. It fails with the code `bad_row`; the other items are unaffected.
struct BadRow: Hashable, Sendable {
  /// The place among the items of all manifests, from 0.
  var index: Int
  /// The line number, from 1; nil for formats that are not read by line (plist, JSON).
  var line: Int?
  /// The item's name, if one could be read.
  var name: String?
  /// The item's URL, if it is known.
  var url: String?
  /// A sentence that describes the error. It begins with the file and the place in it.
  var reason: String
  /// The path of the manifest; nil if there is only one.
  var manifest: String?
}

/// An item of a manifest, usable or not.
enum ManifestEntry: Hashable, Sendable {
  /// An image to fetch.
  case row(ManifestRow)
  /// An unusable item.
  case bad(BadRow)
}

extension ManifestEntry {
  /// Returns this item of the manifest at `path`, one of several.
  func named(_ path: String) -> ManifestEntry {
    switch self {
    case .row(var row):
      row.manifest = path
      return .row(row)
    case .bad(var row):
      row.manifest = path
      return .bad(row)
    }
  }

  /// The row's second line in a gallery, with credentials removed; nil if it has none.
  var subtitle: String? {
    guard case .row(let row) = self else { return nil }
    return row.options.subtitle.map { Redaction.label($0, about: row.urls) }
  }

  /// The URLs that the item may be fetched from; empty for an unusable item.
  var urls: [String] {
    if case .row(let row) = self { row.urls } else { [] }
  }

  /// The place among the items of all manifests, from 0.
  var index: Int {
    switch self {
    case .row(let row): row.index
    case .bad(let row): row.index
    }
  }
}

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

/// The names of the manifest columns that are read.
struct ManifestKeys: Hashable, Sendable {
  /// Names for the URL column; the first one that a row has is used. Default `icon`, `url`, `image`, `src`.
  var url = ["icon", "url", "image", "src"]
  /// Names for the name column; the first one that a row has is used. Default `name`, `title`.
  var name = ["name", "title"]
  /// Names for the column with the second line in a gallery; the first one that a row has is used. Default `subtitle`,
  /// `download`.
  var subtitle = ["subtitle", "download"]

  /// The columns of ``RowOptions`` to read, in the order of its cases. Default all columns, under their default names.
  var options = RowOptions.Column.allCases.map { OptionColumn(column: $0, name: $0.rawValue) }

  /// Creates the default names, except that `urlKey`, `nameKey` and `subtitleKey` replace theirs.
  init(urlKey: String? = nil, nameKey: String? = nil, subtitleKey: String? = nil) {
    if let urlKey { url = [urlKey] }
    if let nameKey { name = [nameKey] }
    if let subtitleKey { subtitle = [subtitleKey] }
  }
}

extension ManifestKeys {
  /// The names of the URL column for a message: `icon, url, image or src`.
  var urlList: String {
    guard let last = url.last, url.count > 1 else { return url.joined() }
    return url.dropLast().joined(separator: ", ") + " or " + last
  }

  /// Returns the item for an element of a plist or JSON document: a dictionary with the columns, or just the URL.
  func item(_ element: Any, line: Int? = nil) -> ManifestItem {
    if let url = element as? String { return ManifestItem(line: line, content: .url(url)) }
    guard let columns = element as? [String: Any] else {
      return ManifestItem(line: line, content: .bad("\(kind(of: element)) instead of a dictionary"))
    }
    let name = text(of: self.name, in: columns) ?? (anyCase(of: self.name, in: columns)?.value as? String)
    do throws(ParseError) {
      var options = try RowOptions(self.options) { columns[$0.name] }
      options.subtitle = text(of: subtitle, in: columns)
      let url = try options.takeURL(own: try ownURL(in: columns), columns: urlList)
      return ManifestItem(line: line, name: name, content: .url(url), options: options)
    } catch {
      return ManifestItem(line: line, name: name, content: .bad(error.reason))
    }
  }

  private func text(of keys: [String], in columns: [String: Any]) -> String? {
    keys.lazy.compactMap { columns[$0] as? String }.first
  }

  /// Returns the first of `keys` that is a column when case does not matter, with its value.
  private func anyCase(of keys: [String], in columns: [String: Any]) -> (key: String, value: Any)? {
    keys.lazy.compactMap { key in
      columns.first { $0.key.utf8.count == key.utf8.count && $0.key.lowercased() == key.lowercased() }
    }.first
  }

  private func ownURL(in columns: [String: Any]) throws(ParseError) -> String? {
    let exact = url.first { columns[$0] != nil }.flatMap { key in columns[key].map { (key: key, value: $0) } }
    guard let (key, value) = exact ?? anyCase(of: url, in: columns) else { return nil }
    guard let url = value as? String else {
      throw ParseError(reason: "no URL: \(key) is \(kind(of: value)), not a string")
    }
    return url
  }

  /// The name of the type of `value` in a plist or JSON document.
  private func kind(of value: Any) -> String {
    switch value {
    case is String: "a string"
    case is [String: Any]: "a dictionary"
    case is [Any]: "an array"
    case is Bool, is Int, is Double: "a number"
    default: "another kind of value"
    }
  }
}
