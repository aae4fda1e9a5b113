import ArgumentParser

/// Which pictures are wanted.
struct ManifestOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Lists of pictures: plist, JSON, JSON lines, CSV, TSV or text; - is standard input. (default: apps.plist)",
      discussion: """
        Each may be compressed with gzip. Next to address and name, a row may have its own size, headers, priority, \
        urls (mirrors, tried in order) and depends (the name or address of a row above that goes first). Where a \
        column of such a name holds something else, such as the size of a file, name another column or none.
        """,
      valueName: "manifest"),
    completion: .file())
  var manifests: [String] = []

  @Option(
    name: [.customLong("url-column"), .customLong("url-key")],
    help: ArgumentHelp("Column with the address. (default: icon, url, image or src)", valueName: "key"))
  var urlKey: String?

  @Option(
    name: [.customLong("name-column"), .customLong("name-key")],
    help: ArgumentHelp("Column with the picture's name. (default: name or title)", valueName: "key"))
  var nameKey: String?

  @Option(
    name: [.customLong("subtitle-column"), .customLong("subtitle-key")],
    help: ArgumentHelp(
      "Column with a second line for the gallery. (default: subtitle or download)", valueName: "key"))
  var subtitleKey: String?

  @Option(help: ArgumentHelp("Column with a row's own thumbnail sizes, or none.", valueName: "key"))
  var sizeColumn = RowOptions.Column.size.rawValue

  @Option(help: ArgumentHelp("Column with a row's own header fields, or none.", valueName: "key"))
  var headersColumn = RowOptions.Column.headers.rawValue

  @Option(help: ArgumentHelp("Column with a row's priority, or none.", valueName: "key"))
  var priorityColumn = RowOptions.Column.priority.rawValue

  @Option(help: ArgumentHelp("Column with a row's mirrors, or none.", valueName: "key"))
  var urlsColumn = RowOptions.Column.urls.rawValue

  @Option(help: ArgumentHelp("Column with the rows that a row waits for, or none.", valueName: "key"))
  var dependsColumn = RowOptions.Column.depends.rawValue

  /// The manifest of a command line without one.
  static let defaultPath = "apps.plist"

  /// The columns to read.
  var keys: ManifestKeys {
    var keys = ManifestKeys(urlKey: urlKey, nameKey: nameKey, subtitleKey: subtitleKey)
    keys.options = RowOptions.Column.allCases.map { OptionColumn(column: $0, name: name(of: $0)) }
      .filter { $0.name != Self.noColumn }
    return keys
  }

  /// What stands for a column that is not read.
  private static let noColumn = "none"

  private func name(of column: RowOptions.Column) -> String {
    switch column {
    case .size: sizeColumn
    case .headers: headersColumn
    case .priority: priorityColumn
    case .urls: urlsColumn
    case .depends: dependsColumn
    }
  }

  /// The manifests to read: those named, or `apps.plist` of the working directory where `fileExists` finds one.
  /// Neither is a usage error, and so is a file that is not there but is called almost like a subcommand.
  func paths(fileExists: (String) -> Bool) throws -> [String] {
    guard let first = manifests.first else {
      guard fileExists(Self.defaultPath) else {
        throw ValidationError(
          "There is no \(Self.defaultPath) here. Name a manifest, or - to read one from standard input.")
      }
      return [Self.defaultPath]
    }
    if first != "-", let subcommand = Self.subcommand(like: first), !fileExists(first) {
      throw ValidationError("There is no file '\(first.printable)'. Did you mean 'thumbs \(subcommand)'?")
    }
    return manifests
  }

  /// The subcommand that `word` nearly is: one letter wrong, two swapped, or two too many or too few.
  private static func subcommand(like word: String) -> String? {
    let names = Thumbs.configuration.subcommands.compactMap { $0.configuration.commandName }
    return names.first { word.difference(from: $0).count <= 2 }
  }
}
