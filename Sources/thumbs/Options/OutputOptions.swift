import ArgumentParser
import BatchFetch
import ImageCache

/// The options of output files, the report, the summary and progress.
struct OutputOptions: ParsableArguments {
  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("output"), .customLong("output-dir")],
    help: ArgumentHelp(
      "Output directory, created if missing. (default: ./thumbs; for retry, that of the report)",
      discussion: """
        For one URL and one size, also the name of the file, such as cover.jpg, whose extension chooses the format; - \
        is standard output.
        """,
      valueName: "dir"),
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
      "Write a report to this file, one line of JSON per row; - is standard output.",
      discussion:
        "A file called .csv or .tsv gets a table for spreadsheets, which thumbs report and retry cannot read.",
      valueName: "file"),
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

  @Flag(name: .shortAndLong, help: "Print errors only, and one line if rows failed.")
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
    guard !text.isEmpty, text != "-", !BucketFolder.isURL(text) else {
      throw ValidationError("give a file name such as thumbs.prom")
    }
    return text
  }

  /// The progress mode: `none` with `-q`.
  var progressMode: ProgressMode { quiet ? .none : progress }
}

/// The options for the names of output files. A retry does not have them, because the report contains the names.
struct NamingOptions: ParsableArguments {
  @Option(
    name: [.customLong("name-template"), .customLong("name")],
    help: ArgumentHelp(
      "File name pattern. (default: {stem}.{ext}, or {stem}-{spec}.{ext} for several sizes)",
      discussion: """
        Fields: {name} {index} {host} {stem} {dir} {path} {hash} {width} {height} {spec} {ext}. {hash:2} is the first \
        two characters of a field of text. A slash makes subdirectories, as in {hash:2}/{hash}.{ext}. {dir} stands \
        for the folders of the URL, {path} for them and the stem.
        """,
      valueName: "pattern"),
    transform: { try NameTemplate(argument: $0) })
  var pattern: NameTemplate?

  @Flag(
    name: [.customShort("x"), .customLong("mirror"), .customLong("force-directories")],
    help: ArgumentHelp(
      "Make subdirectories for the hosts and folders of the URLs.",
      discussion: "Short for --name-template '{host}/{path}.{ext}', or '{host}/{path}-{spec}.{ext}' for several sizes.")
  )
  var mirror = false

  @Flag(
    help: ArgumentHelp(
      "Leave files of an earlier run alone, without a request, if they were made from the same URL in the same way.",
      discussion: """
        Files prove that by an extended attribute; others are fetched as usual. So are names with {width} or {height}, \
        and all rows with --placeholders or --phash. The report calls their origin 'existing'.
        """))
  var skipExisting = false

  func validate() throws {
    if mirror, pattern != nil {
      throw ValidationError("--mirror and --name-template cannot be used together; {host}, {dir} and {path} exist.")
    }
  }

  /// Returns the path of the file of a single image, if the pattern has no fields and `inputs` are one image; nil
  /// otherwise.
  func singleFile(in directory: String?, _ inputs: [ManifestInput]) -> String? {
    guard let pattern, !pattern.hasFields, inputs.count == 1, inputs[0].item != nil else { return nil }
    return "\(directory ?? OutputOptions.defaultDirectory)/\(pattern)"
  }

  /// Returns the file name pattern for `sizeCount` sizes. `usual` is the one for a single size without any option.
  ///
  /// - Throws: A `ValidationError` if the pattern gives two sizes of an image the same name.
  func template(sizeCount: Int, usual: NameTemplate = .oneSize) throws -> NameTemplate {
    guard let pattern else {
      let template = mirror ? .mirror : usual
      return sizeCount > 1 ? template.tellingSizesApart : template
    }
    guard pattern.hasFields else {
      throw ValidationError("--name-template '\(pattern)': \(NameTemplateError.noField)")
    }
    if sizeCount > 1, !pattern.contains(.spec) {
      throw ValidationError(
        "--name-template '\(pattern)' gives all sizes of an image the same name; add {spec}, as in "
          + "{stem}-{spec}.{ext}.")
    }
    return pattern
  }
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

/// The options about the content of image files.
struct ContentOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Smallest image to accept, in pixels, such as 1024 or 1k. Smaller ones fail as too_few_pixels. (default: any)",
      valueName: "n"),
    transform: { try PixelCount($0) })
  var minPixels: PixelCount?

  @Option(
    help: ArgumentHelp(
      "Longest image to accept, as the ratio of its sides, such as 3. Longer ones fail as too_long. (default: any)",
      valueName: "ratio"),
    transform: Self.ratio)
  var maxAspectRatio: Double?

  @Option(
    help: ArgumentHelp(
      "Reject the image files with these SHA-256 digests, one per line, such as placeholders of a host. Repeatable.",
      discussion: """
        Their rows fail as rejected_hash. A line may have more after the digest, as sha256sum prints it; empty lines \
        and those that begin with # are ignored.
        """,
      valueName: "file"),
    completion: .file(), transform: { try DigestFile(contentsOf: $0) })
  var rejectHash: [DigestFile] = []

  @Flag(
    help: "Fail rows without a SHA-256 as bad_row, so that nothing unexpected is written.")
  var requireHash = false

  /// The rules for the images of a pipeline.
  var rules: ContentRules {
    var rules = ContentRules()
    rules.minPixels = minPixels?.count ?? 0
    rules.maxAspectRatio = maxAspectRatio
    rules.rejectedDigests = rejectHash.reduce(into: []) { $0.formUnion($1.digests) }
    return rules
  }

  private static func ratio(_ text: String) throws -> Double {
    guard let ratio = Double(text), ratio >= 1, ratio.isFinite else {
      throw ValidationError("give a ratio from 1 on, such as 3 or 1.78")
    }
    return ratio
  }

  /// The demand on the rows of a manifest.
  var demand: RowDemand { requireHash ? .digest : .none }
}
