import ArgumentParser
import BatchFetch
import HTTPTypes
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

      The exit status is that of fetch. It is 0 if there is nothing to retry, 75 if a row was skipped or the report \
      may lack rows, as after a kill, and 65 if the report cannot be read. For rows that it lacks, run thumbs fetch \
      with the list; --skip-existing leaves the others alone.
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

  @OptionGroup var configuration: ConfigurationOptions

  @OptionGroup(title: "Results") var output: OutputOptions
  @OptionGroup(title: "Downloads") var network: NetworkOptions
  @OptionGroup(title: "Politeness") var politeness: PolitenessOptions
  @OptionGroup(title: "Limits of the run") var runLimits: RunLimitOptions
  @OptionGroup(title: "Content") var content: ContentOptions
  @OptionGroup(title: "Cache and rendering") var caching: CachingOptions
  @OptionGroup(title: "Decoders") var decoders: DecoderOptions

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
        try DryRun(plan: RetryPlan(report), directory: directory, files: network.fileAccess, demand: content.demand)
          .run()
      }
    }
    let inputs = RunInputs(report, at: copy?.path ?? self.report, settings: settingFiles)
    let ending = Result { try fetch(inputs, to: directory, with: credentials, since: started) { RetryPlan(report) } }
    do throws(OutputError) {
      if output.report == nil { try copy?.store() }
    } catch {
      throw ExitCode.ioError.printing(error)
    }
    try ending.get()
  }

  private func readReport(at path: String, _ credentials: Credentials) throws(InputError) -> RetryReport {
    let fields = Set(credentials.headerFields.map(\.name.canonicalName))
    return try RetryReport(path: path, choice: allFailed ? .allFailed : .retryable, fields: fields)
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

/// The rows of a report that are left. Other threads than the first may take them.
private final class RowQueue: Sendable {
  private let rows: Mutex<ArraySlice<PlannedRow>>

  init(_ rows: [PlannedRow]) { self.rows = Mutex(rows[...]) }

  func next() -> PlannedRow? { rows.withLock { $0.popFirst() } }
}
