import ArgumentParser

/// `thumbs retry`: from a report to the thumbnails it says are missing.
struct RetryCommand: FetchingCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Try again what a report says has failed.",
    discussion: """
      Rows that were cancelled, and those that failed in a way that may pass, are fetched again: the same addresses, to
      the same files, in the same sizes. Options of the downloads and the cache are not in a report; give them again.

      Examples:
        thumbs retry report.jsonl
        thumbs retry --all-failed --retries 6 --report second.jsonl report.jsonl

      Exit status as for fetch; 0 where there is nothing to retry; 65 where the report cannot be read.
      """)

  @Argument(
    help: ArgumentHelp("Report of a run; - is standard input. Read whole before anything is written."),
    completion: .file())
  var report: String

  @Flag(help: "Try everything again that failed, also what is not worth retrying.")
  var allFailed = false

  @OptionGroup(title: "Results") var output: OutputOptions
  @OptionGroup(title: "Downloads") var network: NetworkOptions
  @OptionGroup(title: "Cache and rendering") var caching: CachingOptions

  /// The names of the files are in the report.
  func validate() throws {
    if output.namePattern != nil { throw ValidationError("retry keeps the names of the report; leave --name out.") }
  }

  func run() throws {
    let report: RetryReport
    do throws(ManifestError) {
      let fields = Set(network.headers.map { $0.name.lowercased() })
      report = try RetryReport(path: self.report, choice: allFailed ? .allFailed : .retryable, fields: fields)
    } catch {
      throw ExitCode.dataError.saying(error)
    }
    if !output.quiet { ProgressOutput.standardError.write("thumbs: \(report.introduction)\n") }
    let inputs = RunInputs(report, at: self.report)
    try fetch(inputs, to: try directory(of: report)) { RetryPlan(report) }
  }

  private func directory(of report: RetryReport) throws -> String {
    if let directory = output.directory { return directory }
    guard report.directories.count < 2 else {
      throw ValidationError("The report is of several output directories; choose one with --output.")
    }
    return report.directories.first ?? OutputOptions.defaultDirectory
  }
}
