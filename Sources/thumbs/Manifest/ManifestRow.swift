import BatchFetch

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
  @Usual var options = RowOptions()
  /// The path of the manifest; nil if there is only one.
  var manifest: String?
  /// The place of a local image that the command line names; nil for a row of a list.
  var place: LocalPlace?
  /// The web page in which the image was found, or was not; nil for other rows.
  @Rare var page: RowPage? = nil
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
  /// The place of a local image that the command line names; nil for an item of a list.
  var place: LocalPlace?

  /// Creates an item, trimming whitespace around the URL and the name.
  init(
    line: Int? = nil, name: String? = nil, content: Content, options: RowOptions = RowOptions(),
    place: LocalPlace? = nil
  ) {
    self.line = line
    self.options = options
    self.place = place
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
  /// The URL; nil for an unusable item.
  var url: String? { if case .url(let url) = content { url } else { nil } }

  /// Returns this item with its URLs resolved against `base`.
  func resolved(by base: ManifestBase) -> ManifestItem {
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
      return .row(ManifestRow(index: index, line: line, name: name, url: url, options: options, place: place))
    case .bad(let reason):
      let place: InputError.Place = if let line { .line(line) } else { .item(number) }
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

  /// The keys that lead to the array of rows in a JSON object; nil if the first one that looks like it has them.
  private(set) var rows: [String]?

  /// Creates the default names, except that `urlKey`, `nameKey` and `subtitleKey` replace theirs. A key such as
  /// `items[].image.url` names the array of rows in front of `[]`.
  init(urlKey: String? = nil, nameKey: String? = nil, subtitleKey: String? = nil) {
    let prefix = urlKey.flatMap { key in key.firstRange(of: "[].").map { key[..<$0.lowerBound] } }
    rows = prefix.flatMap { $0.isEmpty ? nil : $0.split(separator: ".").map(String.init) }
    if let urlKey { url = [Self.key(urlKey, behind: prefix)] }
    if let nameKey { name = [Self.key(nameKey, behind: prefix)] }
    if let subtitleKey { subtitle = [Self.key(subtitleKey, behind: prefix)] }
  }

  private static func key(_ key: String, behind prefix: Substring?) -> String {
    guard let prefix, key.hasPrefix(prefix + "[].") else { return key }
    return String(key.dropFirst(prefix.count + 3))
  }
}

extension ManifestKeys {
  /// Names of the URL column in the lists of others, in lowercase letters. Those of the second group may also be links
  /// to pages, so that they count only without one of the first.
  private static let usualNames: [Set<String>] = [
    [
      "img", "photo", "image", "pic", "thumbnail", "thumb", "logo", "cover", "avatar", "poster", "images", "photos",
      "imageurl", "imgurl", "photourl", "imageurl", "picurl", "thumbnailurl", "thumburl", "iconurl", "logourl",
      "coverurl", "avatarurl", "posterurl", "imagelink", "photolink", "imagelink", "imagesrc", "imgsrc", "srcurl",
      "imageurls", "imageuri", "mainimage", "featuredimage",
    ],
    ["link", "href", "uri", "file", "fileurl", "mediaurl", "downloadurl", "contenturl", "address"],
  ]

  /// Returns the only one of `columns` that has a usual name for image URLs, whatever its case, spaces and signs; nil
  /// if there are several. Only for the default names, which none of the columns has.
  func guess(among columns: some Collection<String>) -> String? {
    guard url == ManifestKeys().url else { return nil }
    for names in Self.usualNames {
      let candidates = columns.filter { column in
        column.utf8.count <= 40 && names.contains(String(column.lowercased().filter { $0.isLetter }))
      }
      if !candidates.isEmpty { return candidates.count == 1 ? candidates.first : nil }
    }
    return nil
  }

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
    let name = text(of: self.name, in: columns) ?? anyCase(of: self.name, in: columns).flatMap { text($0.value) }
    do throws(ParseError) {
      var options = try RowOptions(self.options) { columns[$0.name] }
      options.subtitle = text(of: subtitle, in: columns)
      var own = try ownURL(in: columns)
      if own == nil, options.mirrors.isEmpty, let guess = guess(among: columns.keys) {
        own = try ownURL(in: columns, keys: [guess])
      }
      let url = try options.takeURL(own: own, columns: "\(urlList)\(Self.list(columns))")
      return ManifestItem(line: line, name: name, content: .url(url), options: options)
    } catch {
      return ManifestItem(line: line, name: name, content: .bad(error.reason))
    }
  }

  private func text(of keys: [String], in columns: [String: Any]) -> String? {
    keys.lazy.compactMap { text(value(at: $0, in: columns)) }.first
  }

  /// Returns a string, or a number as it is written; nil for any other value.
  private func text(_ value: Any?) -> String? {
    switch value {
    case let text as String: text
    case let number as Int: "\(number)"
    case let number as Double: "\(number)"
    default: nil
    }
  }

  /// Returns the value at `path`: a key, or keys and positions such as `image.sizes[0].url`. Where a key meets an
  /// array, the first element counts.
  private func value(at path: String, in columns: [String: Any]) -> Any? {
    if let value = columns[path] { return value }
    guard path.contains(where: { ".[".contains($0) }) else { return nil }
    return path.split { ".[]".contains($0) }.reduce(columns as Any?) { value, step in
      let list = value as? [Any]
      if let list, let position = Int(step) { return list.indices.contains(position) ? list[position] : nil }
      return ((list?.first ?? value) as? [String: Any])?[String(step)]
    }
  }

  /// Returns the URL in a value: the first of an array, and that of an object such as `{"url": …, "width": 640}`.
  private func url(in value: Any) -> Any {
    if let list = value as? [Any] { return list.first.map(url) ?? value }
    guard let object = value as? [String: Any] else { return value }
    return ["url", "src", "href"].lazy.compactMap { object[$0] }.first ?? value
  }

  /// Returns the first of `keys` that is a column when case does not matter, with its value.
  private func anyCase(of keys: [String], in columns: [String: Any]) -> (key: String, value: Any)? {
    keys.lazy.compactMap { key in
      columns.first { $0.key.utf8.count == key.utf8.count && $0.key.lowercased() == key.lowercased() }
    }.first
  }

  /// Returns true if `element` has a URL apart from its mirrors.
  func hasOwnURL(_ element: Any) -> Bool {
    element is String || (element as? [String: Any]).flatMap { (try? ownURL(in: $0)) ?? nil } != nil
  }

  /// The end of a sentence that lists the names of `columns`.
  private static func list(_ columns: [String: Any]) -> String {
    let names = columns.keys.sorted().prefix(20).joined(separator: ", ")
    return names.isEmpty ? "" : "; the row has \(String(names.prefix(200)))"
  }

  private func ownURL(in columns: [String: Any], keys: [String]? = nil) throws(ParseError) -> String? {
    let keys = keys ?? self.url
    let exact = keys.lazy.compactMap { key in value(at: key, in: columns).map { (key: key, value: $0) } }.first
    guard let (key, value) = exact ?? anyCase(of: keys, in: columns) else { return nil }
    guard let url = url(in: value) as? String else {
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
    default: "null"
    }
  }
}
