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
