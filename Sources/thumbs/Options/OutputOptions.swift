import ArgumentParser

/// The options of output files, the report, the summary and progress.
struct OutputOptions: ParsableArguments {
  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("output"), .customLong("output-dir")],
    help: ArgumentHelp(
      "Output directory, created if missing. (default: ./thumbs; for retry, that of the report)", valueName: "dir"),
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
