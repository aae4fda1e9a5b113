/// The columns of a row that matter, and how they are called.
struct ManifestKeys: Hashable, Sendable {
  /// Names of the column with the address; the first that a row has counts. Default `icon`, `url`, `image`, `src`.
  var url = ["icon", "url", "image", "src"]
  /// Names of the column with the picture's name; the first that a row has counts. Default `name`, `title`.
  var name = ["name", "title"]

  /// The default columns, or those of `urlKey` and `nameKey` in their place.
  init(urlKey: String? = nil, nameKey: String? = nil) {
    if let urlKey { url = [urlKey] }
    if let nameKey { name = [nameKey] }
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
    let name = self.name.lazy.compactMap { columns[$0] as? String }.first
    guard let key = url.first(where: { columns[$0] != nil }), let value = columns[key] else {
      return ManifestItem(line: line, name: name, content: .bad("no URL: there is no \(urlList)"))
    }
    guard let url = value as? String else {
      return ManifestItem(line: line, name: name, content: .bad("no URL: \(key) is \(kind(of: value)), not a string"))
    }
    return ManifestItem(line: line, name: name, content: .url(url))
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
