import ArgumentParser

/// `thumbs report summary`: prints the totals of a report.
struct ReportSummaryCommand: ParsableCommand {
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
    var totals = ReportTotals()
    let isPartial = try argument.forEach { totals.count($0.row) }
    if json {
      print(String(decoding: totals.json(isPartial: isPartial), as: UTF8.self), terminator: "")
    } else {
      print(totals.text(isPartial: isPartial))
    }
  }
}
