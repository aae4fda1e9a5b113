import ArgumentParser
import BatchFetch
import Foundation
import Glibc
import HTTPTypes
import ImageCache

/// `thumbs fetch`: the main job, from a manifest to thumbnails and a report.
struct FetchCommand: FetchingCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Download images and write their thumbnails.",
    discussion: """
      Examples:
        thumbs fetch https://example.com/photo.jpg
        thumbs fetch apps.plist
        thumbs fetch apps.plist --gallery apps.html
        thumbs fetch -o icons -s 64,64@2x apps.json more.csv
        grep -h '^https' links.txt | thumbs fetch --report report.jsonl -
        thumbs fetch --shard 3/8 --report 3.jsonl urls.txt

      To finish a run that was stopped, repeat the command with --skip-existing: its finished files are left alone. \
      Without it, the same images come from the cache, as far as their servers allow that and it still has them.

      Exit status:
        0    all done
        1    finished; some items failed permanently
        75   some failures are worth retrying, or a limit of the run was reached
        64   the command line is wrong
        65   a manifest cannot be read
        73   output cannot be created
        74   reading or writing failed during the run
        129  hung up
        130  interrupted
        143  terminated
      """)

  // No group has groups inside: in a debug build, the parser checks those sixteen times, and others four times.
  @OptionGroup(title: "Manifests") var manifest: ManifestOptions
  @OptionGroup(title: "Manifests") var columns: ColumnOptions
  @OptionGroup(title: "Thumbnails") var pixels: PixelOptions
  @OptionGroup(title: "Results") var output: OutputOptions
  @OptionGroup(title: "Results") var naming: NamingOptions
  @OptionGroup(title: "Downloads") var network: NetworkOptions
  @OptionGroup(title: "Politeness") var politeness: PolitenessOptions
  @OptionGroup(title: "Limits of the run") var runLimits: RunLimitOptions
  @OptionGroup(title: "Content") var content: ContentOptions
  @OptionGroup(title: "Cache and rendering") var caching: CachingOptions
  @OptionGroup(title: "Cache and rendering") var remote: RemoteCacheOptions
  @OptionGroup(title: "Decoders") var decoders: DecoderOptions

  @Flag(
    name: [.customShort("n"), .customLong("dry-run")],
    help: "Print the files that would be written, with their URLs; download and write nothing.")
  var dryRun = false

  var skipsExisting: Bool { naming.skipExisting }

  @OptionGroup var configuration: ConfigurationOptions

  func run() throws {
    let sources = try manifest.inputs(format: columns.format) { FileManager.default.fileExists(atPath: $0) }
    let credentials = try Credentials(network)
    let file = naming.singleFile(in: output.directory, sources)
    let single = try (file ?? output.directory).flatMap { try SingleOutput($0) }
    defer { single?.end() }
    var (pixels, naming) = (self.pixels, self.naming)
    if file != nil, single != nil { naming.pattern = nil }
    if let single, let path = file ?? output.directory {
      try single.check(path, sources, pixels, naming, output)
      if manifest.find == .images { throw ValidationError("-o names one file, but --find images may find several.") }
      if let format = single.format { pixels.format = format }
    }
    let template =
      try single?.template
      ?? naming.template(sizeCount: pixels.specs.count, usual: usualTemplate(for: sources))
    let directory = single?.directory ?? output.directory ?? OutputOptions.defaultDirectory
    let shard = try manifest.shard.map {
      try $0.shard(by: manifest.shardBy, environment: ProcessInfo.processInfo.environment)
    }
    let inputs = RunInputs(sources, settings: settingFiles)
    let plan = { [specs = pixels.rowSpecs] in
      try reserveSources(of: sources, in: inputs.reserved, output: directory)
      return ManifestPlan(
        try entries(of: sources, besides: directory, specs), shard: shard,
        names: OutputNames(template) { SourceKey(url: $0).description }, specs: specs)
    }
    if dryRun {
      if manifest.find != nil { throw ValidationError("--dry-run requests nothing, so it cannot be used with --find.") }
      _ = try politeness.hostRules()
      try exiting {
        try DryRun(plan: plan(), directory: directory, files: network.fileAccess, demand: content.demand).run()
      }
    } else {
      if sources.contains(.file("-")), isatty(STDIN_FILENO) == 1, !output.quiet {
        let end = "The list ends with Control-D on an empty line."
        ProgressOutput.standardError.write("thumbs: Reading URLs from the terminal, one per line. \(end)\n")
      }
      try decoders.checkEncoder(for: pixels)
      try fetch(inputs, to: directory, with: credentials, plan)
      try deliver(single)
    }
  }

  private func usualTemplate(for inputs: [ManifestInput]) -> NameTemplate {
    if manifest.find == .icon { return .host }
    return inputs.contains { $0.hasFolders } ? .folders : .oneSize
  }

  /// Opens the lists among `inputs`, and looks into their pages with `--find`.
  private func entries(
    of inputs: [ManifestInput], besides output: String, _ specs: @escaping @Sendable (RowOptions) -> [ThumbnailSpec]
  ) throws(InputError) -> any EntrySource {
    let list = try list(inputs, besides: output)
    guard let search = manifest.find else { return list }
    return FoundRows(list, search) { specs($0).longestSide }
  }

  private func deliver(_ single: SingleOutput?) throws {
    do {
      try single?.deliver()
    } catch let error as OutputError {
      throw ExitCode.ioError.printing(error)
    }
  }

  /// Opens the lists and directories among `inputs`, but not the output directory.
  private func list(_ inputs: [ManifestInput], besides output: String) throws(InputError) -> ManifestList {
    try ManifestList(
      inputs: inputs, format: columns.format, keys: columns.keys,
      relativeURLs: relativeURLs(columns),
      scope: LocalScope(isRecursive: !manifest.noRecurse, output: output), side: pixels.specs.longestSide,
      client: { buckets })
  }

  /// Reads the manifests once to reserve the local images in them, so that no row overwrites the source of a later row.
  ///
  /// A pipe is not read ahead, so that its first rows can start before its last row arrives. A source in a later row
  /// can then be overwritten only if it is itself a thumbnail made by `thumbs`. With `--overwrite`, any file could be
  /// overwritten, so the pipe is read to its end first.
  private func reserveSources(of inputs: [ManifestInput], in reserved: ReservedFiles, output path: String) throws {
    for input in inputs {
      if let directory = input.directory { try reserved.insert(directory, output: path) }
      if let url = input.item?.url { reserved.insert(sourceAt: url) }
    }
    guard network.allowFile else { return }
    if output.overwrite, inputs.contains(.file("-")) { try StandardStreams.spoolInput() }
    let known = inputs.filter { input in
      guard let path = input.path else { return false }
      return path == "-" ? FileIdentity(descriptor: STDIN_FILENO) != nil : FileIdentity(path: path) != nil
    }
    let position = lseek(STDIN_FILENO, 0, SEEK_CUR)
    for entry in try list(known, besides: path) {
      if case .row(let row) = entry { reserved.insert(sourcesOf: row) }
    }
    lseek(STDIN_FILENO, position, SEEK_SET)
  }
}

/// Lists what a run would write: one line per thumbnail, with its file and URL. Downloads and writes nothing.
struct DryRun {
  var plan: any RowPlan
  var directory: String
  var files: FileAccess
  var demand: RowDemand

  /// Prints the lines on standard output. Throws the exit code if a row is unusable, or if a retry skips it. The
  /// command has printed the reason to skip it.
  func run() throws {
    var (unusable, skipped) = (0, 0)
    while let row = plan.next() {
      if row.kept != nil { skipped += 1 } else if !show(row) { unusable += 1 }
      plan.finish(row)
    }
    if let failure = plan.failure ?? plan.lack { throw failure }
    if skipped > 0 { throw ExitCode.temporaryFailure }
    if unusable > 0 { throw ExitCode.failure }
  }

  /// Prints the lines of `row`. If it is unusable, prints the reason on standard error and returns false.
  private func show(_ row: PlannedRow) -> Bool {
    do throws(FetchFailure) {
      for line in try lines(of: row) { print(line.map(\.printable).joined(separator: "\t")) }
      return true
    } catch {
      let message = Redaction.message(error.message, about: row.entry.urls)
      ProgressOutput.standardError.write("thumbs: \(message.printable)\n")
      return false
    }
  }

  /// The file and the URL of each thumbnail.
  private func lines(of row: PlannedRow) throws(FetchFailure) -> [[String]] {
    let request = try row.request(headerFields: [:], demand: demand)
    try (request.options.files ?? files).check(SourceURL(request.url))
    guard let name = row.name else { return [] }
    let url = Redaction.url(request.url)
    return row.files.map { ["\(directory)/\(name.fileName(of: $0))", url] }
  }
}

extension ExitCode {
  /// `EX_DATAERR`: a manifest cannot be read.
  static let dataError = ExitCode(65)
  /// `EX_CANTCREAT`: output cannot be created.
  static let cannotCreate = ExitCode(73)
  /// `EX_IOERR`: reading or writing failed during the run.
  static let ioError = ExitCode(74)

  /// `EX_TEMPFAIL`: the run is worth a retry.
  static let temporaryFailure = ExitCode(75)

  /// The exit code after a signal, by the convention of shells: 128 plus its number.
  static func signal(_ number: Int32) -> ExitCode { ExitCode(128 + number) }

  /// Prints `message` on standard error and returns this code.
  func printing(_ message: some CustomStringConvertible) -> ExitCode {
    ProgressOutput.standardError.write("thumbs: \(Redaction.message("\(message)").printable)\n")
    return self
  }
}
