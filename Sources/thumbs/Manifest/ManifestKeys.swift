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
    do throws(RowFlaw) {
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

  private func ownURL(in columns: [String: Any]) throws(RowFlaw) -> String? {
    let exact = url.first { columns[$0] != nil }.flatMap { key in columns[key].map { (key: key, value: $0) } }
    guard let (key, value) = exact ?? anyCase(of: url, in: columns) else { return nil }
    guard let url = value as? String else {
      throw RowFlaw(reason: "no URL: \(key) is \(kind(of: value)), not a string")
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
