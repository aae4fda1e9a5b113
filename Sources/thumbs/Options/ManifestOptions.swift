import ArgumentParser
import BatchFetch

/// The manifests to read.
struct ManifestOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Image URLs, images, directories of images, and manifests of URLs: plist, JSON, JSON Lines, CSV, TSV or text; - "
        + "is standard input. (default: apps.plist)",
      discussion: """
        An argument with a scheme, such as https://, is a URL. A file is an image or a manifest, as its content says. \
        Of a directory, all images in it and in its subdirectories are read, in the order of their names, but no \
        hidden files, links and other file systems; their thumbnails keep the folders. \
        Manifests may be compressed with gzip. Besides its URL and name, a row may set size, focus (the \
        part that a crop keeps, as in --gravity), headers, priority, urls (mirrors, tried in order), sha256 (of the \
        image file) and depends (the name or URL of an earlier row that must end first). If a column of that name \
        holds something else, such as a file size, choose another column, or none.
        """,
      valueName: "input"),
    completion: .file())
  var manifests: [String] = []

  @Option(
    name: [.customShort("i", allowingJoined: true), .customLong("input-file")],
    help: ArgumentHelp(
      "Manifest to read after the arguments; - is standard input. Repeatable.", valueName: "manifest"),
    completion: .file())
  var inputFiles: [String] = []

  @Option(
    help: ArgumentHelp(
      "Take the rows as web pages: fetch the preview that a page declares, its icon, or all of its images.",
      discussion: """
        A row whose URL leads to an image is fetched as usual, and one that leads to a feed or a sitemap gives the \
        images of its entries. 'preview' is the image for sharing (Open Graph, Twitter card, image_src), or else \
        the largest one; 'icon' the one that suits the size; 'images' makes a row of each image. Files get the name \
        of the page, or for images their own. The report names the page, which is also the Referer of the request.
        """,
      valueName: "kind"))
  var find: PageSearch?

  @Flag(help: "Read only the images in a directory itself, not those in its subdirectories.")
  var noRecurse = false

  @Option(
    help: ArgumentHelp(
      "Fetch only this part of the rows, such as 3/8, the third of eight; 'auto' takes it from the scheduler.",
      discussion: """
        Run each of the shards 1/8 to 8/8 with the same manifests, also on several machines, with a report each, and \
        combine the reports with 'thumbs report merge'. Indexes and file names are those of a run without shards. \
        'auto' reads the variables of a Slurm array, of a Kubernetes job with indexes, or of GNU parallel; for the \
        latter two, THUMBS_SHARDS must be the number of shards.
        """,
      valueName: "i/n"),
    transform: { try ShardOption($0) })
  var shard: ShardOption?

  @Option(
    help: ArgumentHelp(
      "Rows that stay in one shard: those of a host, so that the limits per host hold, those of a URL, or each row by "
        + "itself."))
  var shardBy = ShardKey.host

  func validate() throws {
    if find != nil, shard != nil { throw ValidationError("--find and --shard cannot be used together.") }
  }

  /// The manifest to read if the command line has none.
  static let defaultPath = "apps.plist"

  /// Returns the inputs of the command line: its arguments and then the files of `--input-file`, or else `apps.plist`
  /// in the working directory. If `format` is not nil, each file is a manifest, and none an image or a directory.
  ///
  /// - Throws: A `ValidationError` if there is no manifest, if the first argument does not exist and looks like a
  ///   misspelled subcommand, or if an input does not exist and looks like a URL that is wrong or in the wrong place.
  func inputs(format: ManifestFormat? = nil, fileExists: (String) -> Bool) throws -> [ManifestInput] {
    guard !manifests.isEmpty || !inputFiles.isEmpty else {
      guard fileExists(Self.defaultPath) else {
        throw ValidationError(
          "There is no \(Self.defaultPath) in this directory. Give a URL, a manifest, or - to read one from standard "
            + "input.")
      }
      return [.file(Self.defaultPath)]
    }
    if let first = manifests.first, first != "-", let subcommand = Self.subcommand(like: first), !fileExists(first) {
      throw ValidationError("There is no file '\(first.printable)'. Did you mean 'thumbs \(subcommand)'?")
    }
    for argument in manifests {
      if let flaw = ManifestInput.flaw(of: argument), !fileExists(argument) { throw ValidationError(flaw) }
    }
    if let url = inputFiles.first(where: { ManifestInput(argument: $0).url != nil && !fileExists($0) }) {
      throw ValidationError(
        "--input-file reads a manifest, but '\(url.printable)' is a URL; give it without --input-file.")
    }
    let arguments = manifests.map { ManifestInput(argument: $0) }
    return (format == nil ? arguments.map(\.located) : arguments) + inputFiles.map(ManifestInput.file)
  }

  /// Returns the subcommand that is at most two inserted or removed letters away from `word`, if any.
  private static func subcommand(like word: String) -> String? {
    let names = Thumbs.configuration.subcommands.compactMap { $0.configuration.commandName }
    return names.first { word.difference(from: $0).count <= 2 }
  }
}

/// The format of the manifests, and the names of their columns.
struct ColumnOptions: ParsableArguments {
  @Option(
    name: .customLong("format-in"),
    help: ArgumentHelp("Format of the manifests. (default: by extension, else by content)", valueName: "format"))
  var format: ManifestFormat?

  @Option(
    name: [.customLong("url-column"), .customLong("url-key")],
    help: ArgumentHelp(
      "Column of the image URL. (default: the first of icon, url, image and src)",
      discussion: """
        In JSON and plists, a path such as image.url or sizes[0].url leads to a value inside the row, and \
        items[].image.url also names the array of rows in an object.
        """,
      valueName: "key"))
  var urlKey: String?

  @Option(
    help: ArgumentHelp(
      "Resolve relative URLs of the manifests against this one. (default: they fail with bad_url)", valueName: "url"),
    transform: { text in
      guard let url = try? SourceURL(text), url.scheme.isWeb else {
        throw ValidationError("give an http or https URL, such as https://example.com/catalog/")
      }
      return url
    })
  var base: SourceURL?

  @Option(
    name: [.customLong("name-column"), .customLong("name-key")],
    help: ArgumentHelp(
      "Column of the image name; 'none' ignores it. (default: the first of name and title)", valueName: "key"))
  var nameKey: String?

  @Option(
    name: [.customLong("subtitle-column"), .customLong("subtitle-key")],
    help: ArgumentHelp(
      "Column of the gallery subtitle; 'none' ignores it. (default: the first of subtitle and download)",
      valueName: "key"))
  var subtitleKey: String?

  @Option(help: ArgumentHelp("Column of per-row thumbnail sizes; 'none' ignores it.", valueName: "key"))
  var sizeColumn = RowOptions.Column.size.rawValue

  @Option(
    help: ArgumentHelp(
      "Column of the part of the image that the row's crops keep; 'none' ignores it.", valueName: "key"))
  var focusColumn = RowOptions.Column.focus.rawValue

  @Option(help: ArgumentHelp("Column of per-row header fields; 'none' ignores it.", valueName: "key"))
  var headersColumn = RowOptions.Column.headers.rawValue

  @Option(help: ArgumentHelp("Column of the row's priority; 'none' ignores it.", valueName: "key"))
  var priorityColumn = RowOptions.Column.priority.rawValue

  @Option(help: ArgumentHelp("Column of mirror URLs; 'none' ignores it.", valueName: "key"))
  var urlsColumn = RowOptions.Column.urls.rawValue

  @Option(help: ArgumentHelp("Column of the earlier rows to wait for; 'none' ignores it.", valueName: "key"))
  var dependsColumn = RowOptions.Column.depends.rawValue

  @Option(
    name: .customLong("sha256-column"),
    help: ArgumentHelp("Column of the image file's SHA-256; 'none' ignores it.", valueName: "key"))
  var digestColumn = RowOptions.Column.sha256.rawValue

  /// The names of the columns to read.
  var keys: ManifestKeys {
    var keys = ManifestKeys(urlKey: urlKey, nameKey: nameKey, subtitleKey: subtitleKey)
    if nameKey == Self.noColumn { keys.name = [] }
    if subtitleKey == Self.noColumn { keys.subtitle = [] }
    keys.options = RowOptions.Column.allCases.map { OptionColumn(column: $0, name: name(of: $0)) }
      .filter { $0.name != Self.noColumn }
    return keys
  }

  /// The value of a column option that ignores the column.
  private static let noColumn = "none"

  private func name(of column: RowOptions.Column) -> String {
    switch column {
    case .size: sizeColumn
    case .focus: focusColumn
    case .headers: headersColumn
    case .priority: priorityColumn
    case .urls: urlsColumn
    case .depends: dependsColumn
    case .sha256: digestColumn
    }
  }
}

/// The option that concerns the configuration file, which is read before the parser runs.
struct ConfigurationOptions: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "Ignore the configuration file.",
      discussion: """
        It is $THUMBS_CONFIG, else $XDG_CONFIG_HOME/thumbs/config.toml, else ~/.config/thumbs/config.toml. Options on \
        the command line replace its settings; --no-NAME switches off its flag NAME.
        """))
  var noConfig = false
}
