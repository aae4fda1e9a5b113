import ArgumentParser
import BatchFetch
import HTTPTypes
import ImageCache
import Synchronization

/// `thumbs retry`: fetches the rows of a report that failed.
struct RetryCommand: FetchingCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Retry the failed rows of a report.",
    discussion: """
      Canceled rows and rows with a temporary failure are fetched again: the same URLs, to the same files, in the \
      same sizes. A report does not contain the options for downloads and the cache; pass them again.

      The report is updated when the retry ends; until then, the old one remains. With --report, the results go to \
      another file. Failures that the cache remembers, such as a 404, are requested again. A report contains no header \
      values and no passwords. A row that needs a header field is skipped unless --header gives it; for a row that \
      needs a password, run thumbs fetch again. Skipped rows keep their lines.

      Examples:
        thumbs retry report.jsonl
        thumbs retry -n report.jsonl
        thumbs retry --all-failed --retries 6 --report second.jsonl report.jsonl
        thumbs retry --list urls.txt -s 128 report.jsonl

      The exit status is that of fetch. It is 0 if there is nothing to retry, 75 if a row was skipped or the report \
      may lack rows, as after a kill, and 65 if the report cannot be read. Rows that it lacks come from the list of \
      the run, with --list; the options for thumbnails, names and columns are for these rows.
      """)

  static let cacheMode = CacheMode.retry

  @Argument(
    help: ArgumentHelp("Report of a run; - is standard input. It is read whole before anything is written."),
    completion: .file())
  var report: String

  @Flag(
    name: [.customShort("n"), .customLong("dry-run")],
    help: "Print the files that would be written, with their URLs; download and write nothing.")
  var dryRun = false

  @Flag(help: "Retry all failed rows, including permanent failures.")
  var allFailed = false

  @Option(
    name: .customLong("list"),
    help: ArgumentHelp(
      "List of the run, from which rows that the report lacks are fetched, too. Repeatable.", valueName: "manifest"),
    completion: .file())
  var lists: [String] = []

  @OptionGroup var configuration: ConfigurationOptions

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

  var skipsExisting: Bool { naming.skipExisting }

  func validate() throws {
    guard lists.isEmpty else { return }
    let usual = try (PixelOptions.parse([]), ColumnOptions.parse([]))
    let isUsual = pixels.specs == usual.0.specs && columns.keys == usual.1.keys && naming.pattern == nil
    if !isUsual || naming.mirror || naming.skipExisting || columns.format != nil || columns.base != nil {
      throw ValidationError(
        "Options for thumbnails, names and columns are for the rows of --list; without it, retry uses the settings in "
          + "the report.")
    }
  }

  func run() throws {
    let started = ContinuousClock.now
    let credentials = try Credentials(network)
    let (report, copy): (RetryReport, ReportCopy?)
    do throws(InputError) {
      copy = BucketFolder.isURL(self.report) ? try ReportCopy(of: self.report, buckets) : nil
      report = try runLimits.limits.opening(since: started) {
        [path = copy?.path ?? self.report] () throws(InputError) in
        try readReport(at: path, credentials)
      }
    } catch {
      throw ExitCode.dataError.printing(error)
    }
    defer { copy?.remove() }
    let directory = try directory(of: report)
    introduce(report, directory)
    guard !dryRun else {
      _ = try politeness.hostRules()
      return try exiting {
        try DryRun(plan: plan(report), directory: directory, files: network.fileAccess, demand: content.demand).run()
      }
    }
    let inputs = RunInputs(report, at: copy?.path ?? self.report, lists: lists, settings: settingFiles)
    let ending = Result { try fetch(inputs, to: directory, with: credentials, since: started) { try plan(report) } }
    do throws(OutputError) {
      if output.report == nil { try copy?.store() }
    } catch {
      throw ExitCode.ioError.printing(error)
    }
    try ending.get()
  }

  /// Returns the rows to retry, and those of the lists that the report lacks.
  private func plan(_ report: RetryReport) throws -> any RowPlan {
    let retry = RetryPlan(report)
    guard let reported = report.reported else { return retry }
    let list = try ManifestList(
      inputs: lists.map(ManifestInput.file), format: columns.format, keys: columns.keys,
      relativeURLs: relativeURLs(columns), side: pixels.specs.longestSide)
    let template = try naming.template(sizeCount: pixels.specs.count)
    let rest = ManifestPlan(
      list, names: OutputNames(template) { SourceKey(url: $0).description }, specs: pixels.rowSpecs)
    return MissingRows(retry, rest, reported, name: lists.joined(separator: ", "))
  }

  private func readReport(at path: String, _ credentials: Credentials) throws(InputError) -> RetryReport {
    let fields = Set(credentials.headerFields.map(\.name.canonicalName))
    return try RetryReport(
      path: path, choice: allFailed ? .allFailed : .retryable, fields: fields, hasList: !lists.isEmpty)
  }

  /// Prints what the retry does. A quiet one says only which rows it skips, because nothing else says so.
  private func introduce(_ report: RetryReport, _ directory: String) {
    var sentences = report.skips
    if !output.quiet {
      sentences = [report.introduction]
      if report.requestedCount > 0, output.directory == nil { sentences.append("The files go to \(directory).") }
      if output.fallback == nil, let advice = report.fallbackAdvice { sentences.append(advice) }
    }
    guard !sentences.isEmpty else { return }
    ProgressOutput.standardError.write("thumbs: \(sentences.joined(separator: " ").printable)\n")
  }

  private func directory(of report: RetryReport) throws -> String {
    if let directory = output.directory {
      try SingleOutput.refuse(directory)
      return directory
    }
    guard report.directories.count < 2 else {
      throw ValidationError("The report covers several output directories; choose one with --output.")
    }
    return report.directories.first ?? report.otherDirectory ?? OutputOptions.defaultDirectory
  }
}

/// The rows of a report that are retried.
private final class RetryPlan: RowPlan {
  private let rows: RowQueue
  /// The rows with their pages, if the run may send requests.
  private let pages = LookupQueue<PlannedRow, PageLookup>()
  private let isSearching = Atomic(false)

  /// True if the report lacks rows of its manifests.
  let isPartial: Bool

  /// The number of rows to retry, which is known.
  let expectedRows: RowTotal

  init(_ report: RetryReport) {
    expectedRows = .exactly(report.rows.count)
    rows = RowQueue(report.rows)
    isPartial = report.isPartial
  }

  func begin(with downloader: Downloader) {
    isSearching.store(true, ordering: .relaxed)
    pages.begin { [rows] in
      rows.next().map { ($0, PageLookup($0.entry, $0.search, side: $0.specs.longestSide, downloader)) }
    }
  }

  func cancel() { pages.cancel() }

  /// A list without requests has the pages as they are.
  func next() -> PlannedRow? {
    guard isSearching.load(ordering: .relaxed) else { return rows.next() }
    guard let (row, found) = pages.next() else { return nil }
    var planned = row
    planned.entry = found.first ?? row.entry
    return planned
  }

  /// Does nothing: retried rows have no dependencies.
  func finish(_ row: PlannedRow) {}

  /// Always nil: the report has already been read whole.
  var failure: InputError? { nil }
}

/// The rows that a retry fetches with the list of its run: those of the report, and then those that it lacks.
private final class MissingRows: RowPlan {
  private let retry: RetryPlan
  private let list: ManifestPlan
  private let reported: ReportedRows
  private let name: String
  private let flaw = Mutex<InputError?>(nil)

  init(_ retry: RetryPlan, _ list: ManifestPlan, _ reported: ReportedRows, name: String) {
    (self.retry, self.list, self.reported, self.name) = (retry, list, reported, name)
  }

  func begin(with downloader: Downloader) {
    retry.begin(with: downloader)
    list.begin(with: downloader)
  }

  func cancel() {
    retry.cancel()
    list.cancel()
  }

  func next() -> PlannedRow? {
    if let row = retry.next() { return row }
    while failure == nil, let row = list.next() {
      do throws(InputError) {
        if try !reported.contains(row.entry, of: name) { return row }
        list.finish(row)
      } catch {
        flaw.withLock { $0 = error }
      }
    }
    return nil
  }

  func finish(_ row: PlannedRow) { list.finish(row) }

  var expectedRows: RowTotal { .unknown }
  var isPartial: Bool { failure != nil }
  var listEnd: ListEnd? { list.listEnd }
  var failure: InputError? { flaw.withLock { $0 } ?? list.failure }
  var lack: InputError? { list.lack }
  var remarks: [String] { list.remarks }
}

/// The rows of a report that are left. Other threads than the first may take them.
private final class RowQueue: Sendable {
  private let rows: Mutex<ArraySlice<PlannedRow>>

  init(_ rows: [PlannedRow]) { self.rows = Mutex(rows[...]) }

  func next() -> PlannedRow? { rows.withLock { $0.popFirst() } }
}
