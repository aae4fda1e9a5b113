/// The columns of a row that matter, and how they are called.
struct ManifestKeys: Hashable, Sendable {
  /// Names of the column with the address; the first that a row has counts. Default `icon`, `url`, `image`, `src`.
  var url = ["icon", "url", "image", "src"]
  /// Names of the column with the picture's name; the first that a row has counts. Default `name`, `title`.
  var name = ["name", "title"]
  /// Names of the column with a second line for people; the first that a row has counts. Default `subtitle`, `download`.
  var subtitle = ["subtitle", "download"]

  /// The columns of ``RowOptions`` that are read, in the order of its cases. Default all, by their own names.
  var options = RowOptions.Column.allCases.map { OptionColumn(column: $0, name: $0.rawValue) }

  /// The default columns, or those of `urlKey`, `nameKey` and `subtitleKey` in their place.
  init(urlKey: String? = nil, nameKey: String? = nil, subtitleKey: String? = nil) {
    if let urlKey { url = [urlKey] }
    if let nameKey { name = [nameKey] }
    if let subtitleKey { subtitle = [subtitleKey] }
  }
}

extension ManifestKeys {
  /// The names of the address column for a message: `icon, url, image or src`.
  var urlList: String {
    guard let last = url.last, url.count > 1 else { return url.joined() }
    return url.dropLast().joined(separator: ", ") + " or " + last
  }

  /// The item in an element of a plist or a JSON document: a dictionary with the columns, or the address itself.
  func item(_ element: Any, line: Int? = nil) -> ManifestItem {
    if let url = element as? String { return ManifestItem(line: line, content: .url(url)) }
    guard let columns = element as? [String: Any] else {
      return ManifestItem(line: line, content: .bad("\(kind(of: element)), where a dictionary should be"))
    }
    let name = text(of: self.name, in: columns)
    do throws(RowFlaw) {
      var options = try RowOptions(self.options) { columns[$0.name] }
      options.subtitle = text(of: subtitle, in: columns)
      let url = try options.takeAddress(own: try address(in: columns), columns: urlList)
      return ManifestItem(line: line, name: name, content: .url(url), options: options)
    } catch {
      return ManifestItem(line: line, name: name, content: .bad(error.reason))
    }
  }

  private func text(of keys: [String], in columns: [String: Any]) -> String? {
    keys.lazy.compactMap { columns[$0] as? String }.first
  }

  private func address(in columns: [String: Any]) throws(RowFlaw) -> String? {
    guard let key = url.first(where: { columns[$0] != nil }), let value = columns[key] else { return nil }
    guard let url = value as? String else {
      throw RowFlaw(reason: "no URL: \(key) is \(kind(of: value)), not a string")
    }
    return url
  }

  /// What `value`, of a plist or a JSON document, is called there.
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
