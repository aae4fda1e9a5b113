import ArgumentParser

/// The options of output files, the report, the summary and progress.
struct OutputOptions: ParsableArguments {
  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("output"), .customLong("output-dir")],
    help: ArgumentHelp(
      "Output directory, created if missing. (default: ./thumbs)", valueName: "dir"),
    completion: .directory)
  var directory: String?

  @Flag(
    help: ArgumentHelp(
      "Also overwrite files that were not made by thumbs.",
      discussion: """
        A file that the run reads is never overwritten. With --allow-file, standard input is read to its end first.
        """))
  var overwrite = false

  /// The rule for files that exist in the output directory.
  var replacement: OutputWriter.Replacement { overwrite ? .any : .own }

  /// The output directory if the command line has none.
  static let defaultDirectory = "./thumbs"

  @Option(
    name: [.customLong("name-template"), .customLong("name")],
    help: ArgumentHelp(
      "File name pattern. (default: {stem}.{ext}, or {stem}-{spec}.{ext} for several sizes)",
      discussion: """
        Fields: {name} {index} {host} {stem} {hash} {width} {height} {spec} {ext}. {hash:2} is the first two \
        characters of a field of text. A slash makes subdirectories, as in {hash:2}/{hash}.{ext}.
        """,
      valueName: "pattern"),
    transform: { try NameTemplate(argument: $0) })
  var namePattern: NameTemplate?

  @Option(
    help: ArgumentHelp(
      "Image file that failed rows get in place of their thumbnails; the report still counts them as failed.",
      valueName: "file"),
    completion: .file(), transform: { try FallbackImage(contentsOf: $0) })
  var fallback: FallbackImage?

  @Option(
    help: ArgumentHelp(
      "Write a report to this file, one line of JSON per row; - is standard output.", valueName: "file"),
    completion: .file())
  var report: String?

  @Option(
    help: ArgumentHelp(
      "Write an HTML page with all thumbnails and failures.",
      discussion: """
        It can be opened during the run. Thumbnails below the directory of the page are linked; others are embedded.
        """,
      valueName: "file.html"),
    completion: .file(extensions: ["html"]), transform: { try OutputOptions.pagePath($0) })
  var gallery: String?

  @Option(
    help: ArgumentHelp(
      "Write a JSON summary of the run to this file; - is standard output.", valueName: "file"),
    completion: .file())
  var summary: String?

  @Option(
    help: ArgumentHelp(
      "Write metrics of the run for Prometheus to this file, every ten seconds and at the end.",
      discussion: "For the textfile collector of its node exporter, the name must end in .prom.",
      valueName: "file.prom"),
    completion: .file(extensions: ["prom"]), transform: { try OutputOptions.metricsPath($0) })
  var metrics: String?

  @Option(help: "Progress display on standard error.")
  var progress = ProgressMode.auto

  @Flag(name: .shortAndLong, help: "Print errors only, without progress and summary.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Print a line for every row.")
  var verbose = false

  /// Rejects `-q` with `-v`, two uses of standard output, and a file name pattern as the output directory.
  func validate() throws {
    if let directory, let pattern = PercentPattern(directory) { throw ValidationError(pattern.remedy) }
    if quiet, verbose { throw ValidationError("--quiet and --verbose cannot be used together.") }
    if report == "-", summary == "-" {
      throw ValidationError("--report and --summary cannot both be standard output; give one of them a file.")
    }
  }

  /// Returns the file name pattern for `sizeCount` sizes.
  ///
  /// - Throws: A `ValidationError` if the pattern gives two sizes of an image the same name.
  func template(sizeCount: Int) throws -> NameTemplate {
    guard let namePattern else { return sizeCount > 1 ? .severalSizes : .oneSize }
    if sizeCount > 1, !namePattern.contains(.spec) {
      throw ValidationError(
        "--name-template '\(namePattern)' gives all sizes of an image the same name; add {spec}, as in "
          + "{stem}-{spec}.{ext}.")
    }
    return namePattern
  }

  private static func pagePath(_ text: String) throws -> String {
    guard !text.isEmpty, text != "-" else { throw ValidationError("give a file name such as thumbs.html") }
    return text
  }

  private static func metricsPath(_ text: String) throws -> String {
    guard !text.isEmpty, text != "-" else { throw ValidationError("give a file name such as thumbs.prom") }
    return text
  }

  /// The progress mode: `none` with `-q`.
  var progressMode: ProgressMode { quiet ? .none : progress }
}

extension NameTemplate {
  /// Parses a pattern; an error in it becomes a `ValidationError`.
  init(argument: String) throws {
    do throws(NameTemplateError) {
      try self.init(argument)
    } catch {
      throw ValidationError("\(error)")
    }
  }
}
