import ArgumentParser

/// Which pictures are wanted.
struct ManifestOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Lists of pictures: plist, JSON, JSON lines, CSV, TSV or text; - is standard input. (default: apps.plist)",
      discussion: """
        Each may be compressed with gzip. Beside address and name, a row may have its own size, headers, priority, \
        urls (mirrors, tried in order) and depends (the name or address of a row above that goes first).
        """,
      valueName: "manifest"),
    completion: .file())
  var manifests: [String] = []

  @Option(help: ArgumentHelp("Column with the address. (default: icon, url, image or src)", valueName: "key"))
  var urlKey: String?

  @Option(help: ArgumentHelp("Column with the picture's name. (default: name or title)", valueName: "key"))
  var nameKey: String?

  @Option(
    help: ArgumentHelp(
      "Column with a second line for the gallery. (default: subtitle or download)", valueName: "key"))
  var subtitleKey: String?

  /// The manifest of a command line without one.
  static let defaultPath = "apps.plist"

  /// The columns to read.
  var keys: ManifestKeys { ManifestKeys(urlKey: urlKey, nameKey: nameKey, subtitleKey: subtitleKey) }

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
      throw ValidationError("There is no file '\(first)'. Did you mean 'thumbs \(subcommand)'?")
    }
    return manifests
  }

  /// The subcommand that `word` nearly is: one letter wrong, two swapped, or two too many or too few.
  private static func subcommand(like word: String) -> String? {
    let names = Thumbs.configuration.subcommands.compactMap { $0.configuration.commandName }
    return names.first { word.difference(from: $0).count <= 2 }
  }
}
