import ArgumentParser

/// Where results go, and what is said about them.
struct OutputOptions: ParsableArguments {
  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp(
      "Directory for the thumbnails; made where it is missing. (default: ./thumbs)", valueName: "dir"),
    completion: .directory)
  var directory: String?

  @Flag(
    help: ArgumentHelp(
      "Replace files that thumbs did not make, too.",
      discussion: """
        A file that the run reads is never replaced. With --allow-file, standard input is read to its end first.
        """))
  var overwrite = false

  /// The rule for files of the output directory that are there already.
  var replacement: OutputWriter.Replacement { overwrite ? .any : .own }

  /// The directory where the command line names none.
  static let defaultDirectory = "./thumbs"

  @Option(
    name: .customLong("name"),
    help: ArgumentHelp(
      "Pattern of the file names. (default: {stem}.{ext}, or {stem}-{spec}.{ext} for several sizes)",
      discussion: "Fields: {name} {index} {host} {stem} {hash} {width} {height} {spec} {ext}.", valueName: "pattern"),
    transform: { try NameTemplate(argument: $0) })
  var namePattern: NameTemplate?

  @Option(
    help: ArgumentHelp("Write one JSON line a row to this file; - is standard output.", valueName: "file"),
    completion: .file())
  var report: String?

  @Option(
    help: ArgumentHelp(
      "Write a page that shows all pictures, and what failed.",
      discussion: "It refers to the thumbnails where they are below its directory; otherwise they are inside the page.",
      valueName: "file.html"),
    completion: .file(extensions: ["html"]), transform: { try OutputOptions.pagePath($0) })
  var gallery: String?

  @Option(
    help: ArgumentHelp(
      "Write counts, hosts and bytes of the whole run to this file, as JSON; - is standard output.", valueName: "file"),
    completion: .file())
  var summary: String?

  @Option(help: "How to show progress, on standard error.")
  var progress = ProgressMode.auto

  @Flag(name: .shortAndLong, help: "Show neither progress nor summary; errors only.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Say what happens to every row.")
  var verbose = false

  /// `-q` and `-v` exclude each other, and standard output has one use.
  func validate() throws {
    if quiet, verbose { throw ValidationError("--quiet and --verbose exclude each other; leave one out.") }
    if report == "-", summary == "-" {
      throw ValidationError("--report and --summary cannot both go to standard output; give one a file.")
    }
  }

  /// The pattern for files of `sizeCount` sizes. One that gives two sizes of a picture the same file is a usage error.
  func template(sizeCount: Int) throws -> NameTemplate {
    guard let namePattern else { return sizeCount > 1 ? .severalSizes : .oneSize }
    if sizeCount > 1, !namePattern.contains(.spec) {
      throw ValidationError(
        "The pattern '\(namePattern)' of --name gives all sizes the same file; add {spec}, as in {stem}-{spec}.{ext}.")
    }
    return namePattern
  }

  private static func pagePath(_ text: String) throws -> String {
    guard !text.isEmpty, text != "-" else { throw ValidationError("give the name of a file, such as thumbs.html") }
    return text
  }

  /// How progress is shown: not at all with `-q`.
  var progressMode: ProgressMode { quiet ? .none : progress }
}

extension NameTemplate {
  /// The pattern that `argument` says.
  init(argument: String) throws {
    do throws(NameTemplateError) {
      try self.init(argument)
    } catch {
      throw ValidationError("\(error)")
    }
  }
}
