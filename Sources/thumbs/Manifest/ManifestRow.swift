/// One picture of a manifest.
struct ManifestRow: Hashable, Sendable {
  /// The place among all items of all manifests, from 0.
  var index: Int
  /// The line of the file, from 1; nil for the formats that are read as a tree (plist, JSON).
  var line: Int?
  /// The name given to the picture; nil where there is none.
  var name: String?
  /// The address as it is written in the manifest, without surrounding white space; a relative one is resolved.
  var url: String
  /// What the row says beside that.
  var options = RowOptions()
}

extension ManifestRow {
  /// All that it may be fetched from.
  var addresses: [String] { [url] + options.mirrors }
}

/// An item of a manifest from which no picture can be asked for. It fails alone, with the code `bad_row`.
struct BadRow: Hashable, Sendable {
  /// The place among all items of all manifests, from 0.
  var index: Int
  /// The line of the file, from 1; nil for the formats that are read as a tree (plist, JSON).
  var line: Int?
  /// The name given to the item, where one could be read.
  var name: String?
  /// Its address, where one is known all the same.
  var url: String?
  /// One sentence that says what is wrong and where: it begins with the file and the place in it.
  var reason: String
}

/// What a manifest says about one item.
enum ManifestEntry: Hashable, Sendable {
  /// A picture to fetch.
  case row(ManifestRow)
  /// Something that names no picture.
  case bad(BadRow)
}

extension ManifestEntry {
  /// A second line for people, without credentials; nil where the row has none.
  var subtitle: String? {
    guard case .row(let row) = self else { return nil }
    return row.options.subtitle.map { Redaction.label($0, about: row.addresses) }
  }

  /// All that the row may be fetched from.
  var addresses: [String] {
    if case .row(let row) = self { row.addresses } else { [] }
  }

  /// The place among all items of all manifests, from 0.
  var index: Int {
    switch self {
    case .row(let row): row.index
    case .bad(let row): row.index
    }
  }
}
