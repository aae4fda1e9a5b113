import ArgumentParser
import BatchFetch

/// `thumbs report`: reads reports.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Read the report of a run.",
    discussion: """
      A report may be compressed with gzip; - is standard input. The exit status is 65 if a report cannot be read; \
      for merge, also if a row is missing.

      Examples:
        thumbs report summary report.jsonl
        thumbs report failed report.jsonl
        thumbs report failed report.jsonl --urls | thumbs --report second.jsonl -
        thumbs report slow -n 50 report.jsonl
        thumbs report hosts report.jsonl
        thumbs report duplicates report.jsonl
        thumbs report export report.jsonl > report.csv
        thumbs report merge 1.jsonl 2.jsonl -o all.jsonl
      """,
    subcommands: [
      ReportSummaryCommand.self, ReportFailedCommand.self, ReportSlowCommand.self, ReportLargeCommand.self,
      ReportHostsCommand.self, ReportDuplicatesCommand.self, ReportExportCommand.self, ReportMergeCommand.self,
    ])
}

/// The report that a subcommand reads.
struct ReportArgument: ParsableArguments {
  @Argument(help: ArgumentHelp("Report of a run; - is standard input."), completion: .file())
  var report: String

  /// Calls `body` with each row of the report, and returns true if rows of the run are missing. Mentions an unfinished
  /// last line on standard error. Throws the exit code if the report cannot be read.
  @discardableResult
  func forEach(_ body: (ReportReader.Line) -> Void) throws -> Bool {
    do throws(InputError) {
      var reader = try ReportReader(path: report)
      while let line = try reader.next() { body(line) }
      if reader.isCut {
        ProgressOutput.standardError.write("thumbs: The last line of the report is not finished and is ignored.\n")
      }
      return reader.isPartial || reader.isUnproven
    } catch {
      throw ExitCode.dataError.printing(error)
    }
  }
}

/// `thumbs report failed`: lists the rows of a report that have no thumbnails.
private struct ReportFailedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "failed",
    abstract: "List the failed and canceled rows of a report: code, URL and reason.",
    discussion: """
      Examples:
        thumbs report failed report.jsonl
        thumbs report failed report.jsonl --urls

      To fetch these rows again, thumbs retry is usually better: it keeps their file names and sizes.
      """)

  @OptionGroup var argument: ReportArgument

  @Flag(
    help: "Print only the URLs, one per line. URLs with credentials are left out: the report does not contain them.")
  var urls = false

  @Flag(help: "Print the lines of the report.")
  var json = false

  /// Rejects `--urls` with `--json`.
  func validate() throws {
    if urls, json { throw ValidationError("--urls and --json cannot be used together.") }
  }

  func run() throws {
    var omitted = 0
    try argument.forEach { line in
      guard line.row.status != .ok else { return }
      if json { return print(String(decoding: line.bytes, as: UTF8.self).printableJSON) }
      guard urls else { return print(line.row.listing) }
      if let url = line.row.usableURL { print(url) } else { omitted += 1 }
    }
    guard omitted > 0 else { return }
    let rows = omitted == 1 ? "1 row has" : "\(omitted) rows have"
    ProgressOutput.standardError.write("thumbs: \(rows) no URL in the report that can be requested again.\n")
  }
}

extension ReportRow {
  /// The code, the URL and the reason, separated by tabs.
  fileprivate var listing: String {
    [code ?? status.rawValue, url ?? "row \(index)", message ?? ""].map(\.printable).joined(separator: "\t")
  }

  /// The URL, unless it lacks credentials or contains unprintable characters, such as line breaks.
  fileprivate var usableURL: String? {
    guard let url, !url.contains(Redaction.mark + "@"), url.printable == url else { return nil }
    return url
  }
}

/// `thumbs report summary`: prints the totals of a report.
private struct ReportSummaryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "summary",
    abstract: "Print what a report contains: counts, failure codes, hosts and the slowest rows.",
    discussion: """
      Examples:
        thumbs report summary report.jsonl
        thumbs report summary --json report.jsonl
      """)

  @OptionGroup var argument: ReportArgument

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    var totals = Totals()
    let isPartial = try argument.forEach { totals.count($0.row) }
    if json {
      print(String(decoding: totals.json(isPartial: isPartial), as: UTF8.self), terminator: "")
    } else {
      print(totals.text(isPartial: isPartial))
    }
  }
}

/// The advice after a run with failures.
enum NextStep {
  /// Returns the advice about the failures in `totals`, a line without a line feed, or nil without failures. `report`
  /// is the path of the report; nil if there is none, and `-` for standard output. `fallback` is the path of the image
  /// of `--fallback`, which a retry needs to replace it.
  static func advice(about totals: Totals, report: String?, fallback: String? = nil) -> String? {
    guard totals.failedCount + totals.cancelled > 0, report != "-" else { return nil }
    guard let report else {
      return "  next: add --report r.jsonl to keep the failures for thumbs report and thumbs retry"
    }
    let isWorthRetrying = totals.cancelled > 0 || totals.hasRetryableFailure
    guard isWorthRetrying else { return "  next: thumbs report failed \(quoted(report).printable)" }
    let option = fallback.map { " --fallback \(quoted($0).printable)" } ?? ""
    return "  next: thumbs retry\(option) \(quoted(report).printable)"
  }

  /// Returns `path` as a word of a shell.
  private static func quoted(_ path: String) -> String {
    let isPlain = path.utf8.allSatisfy { byte in
      Character(Unicode.Scalar(byte)).isLetter && byte < 0x80 || (0x30...0x39).contains(byte)
        || "./_-+".utf8.contains(byte)
    }
    return isPlain && !path.hasPrefix("-") ? path : "'" + path.replacing("'", with: #"'\''"#) + "'"
  }
}
