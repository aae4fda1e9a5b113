import ArgumentParser

/// `thumbs report failed`: lists the rows of a report that have no thumbnails.
struct ReportFailedCommand: ParsableCommand {
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
      if json { return print(line.text.printableJSON) }
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
