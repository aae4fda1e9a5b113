import ArgumentParser

/// `thumbs report slow`: lists the rows with the longest downloads.
struct ReportSlowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "slow",
    abstract: "List the rows with the longest downloads: seconds, bytes and URL.",
    discussion: """
      Rows whose images were in a cache are left out.

      Examples:
        thumbs report slow report.jsonl
        thumbs report slow -n 100 report.jsonl
      """)

  @OptionGroup var argument: ReportArgument
  @OptionGroup var list: ReportListOptions

  func run() throws { try list.show(argument) { $0.ownDownload.map(\.wholeMilliseconds) } }
}

/// `thumbs report large`: lists the rows with the largest images.
struct ReportLargeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "large",
    abstract: "List the rows with the largest images: seconds of the download, bytes and URL.",
    discussion: """
      Examples:
        thumbs report large report.jsonl
        thumbs report large -n 100 report.jsonl
      """)

  @OptionGroup var argument: ReportArgument
  @OptionGroup var list: ReportListOptions

  func run() throws { try list.show(argument) { $0.imageBytes > 0 ? $0.imageBytes : nil } }
}

/// `thumbs report hosts`: lists the hosts of a report.
struct ReportHostsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hosts",
    abstract: "List the hosts of a report: items, failed items, downloads, their mean seconds, and the host.",
    discussion: """
      Hosts with the most items come first. Of more than 10,000 hosts, only the first ones are listed.

      Examples:
        thumbs report hosts report.jsonl
        thumbs report hosts --json report.jsonl
      """)

  @OptionGroup var argument: ReportArgument

  @Flag(help: "Print a JSON object per host.")
  var json = false

  func run() throws {
    var tally = HostTally()
    try argument.forEach { tally.count($0.row) }
    for (name, host) in tally.hosts.sorted(by: { ($1.value.rows, $0.key) < ($0.value.rows, $1.key) }) {
      print(json ? host.json(name) : host.listing(name.printable))
    }
    guard tally.unlistedRows > 0 else { return }
    ProgressOutput.standardError.write("thumbs: \(tally.unlistedRows) items of other hosts are not listed.\n")
  }
}

/// The options of lists of rows.
struct ReportListOptions: ParsableArguments {
  /// The most rows in a list.
  private static let longest = 100_000

  @Option(
    name: [.customShort("n", allowingJoined: true), .customLong("count")],
    help: ArgumentHelp("Number of rows to list. (default: 20)", valueName: "n"))
  var count = 20

  @Flag(help: "Print the lines of the report.")
  var json = false

  func validate() throws {
    guard (1...Self.longest).contains(count) else { throw ValidationError("--count must be 1 to \(Self.longest).") }
  }

  /// Prints the rows with the greatest numbers, those first.
  ///
  /// - Parameter number: Returns the number of a row; nil to leave it out.
  func show(_ argument: ReportArgument, by number: (ReportRow) -> Int?) throws {
    var top = TopRows(count: count)
    try argument.forEach { line in
      if let number = number(line.row) { top.add(line, number) }
    }
    for line in top.lines { print(json ? String(decoding: line.bytes, as: UTF8.self).printableJSON : line.row.listing) }
  }
}

/// The rows with the greatest numbers, and among equals those that came first. A plain value.
struct TopRows {
  private let count: Int
  private var rows: [(number: Int, line: ReportReader.Line)] = []

  /// - Parameter count: The most rows to keep.
  init(count: Int) { self.count = count }

  /// The lines of the rows, those with the greatest numbers first.
  var lines: [ReportReader.Line] { rows.map(\.line) }

  /// Adds a row, and drops the last one if there are too many.
  mutating func add(_ line: ReportReader.Line, _ number: Int) {
    if rows.count == count, let last = rows.last, last.number >= number { return }
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].number >= number { low = middle + 1 } else { high = middle }
    }
    rows.insert((number, line), at: low)
    if rows.count > count { rows.removeLast() }
  }
}

extension ReportRow {
  /// The seconds of the download, the bytes of the image and the URL, separated by tabs.
  fileprivate var listing: String {
    let seconds = ownDownload.map { ($0 / .seconds(1)).text(places: 3) } ?? "-"
    return "\(seconds)\t\(imageBytes)\t\((url ?? "row \(index)").printable)"
  }
}

extension HostTally.Host {
  /// The numbers and the name, separated by tabs.
  fileprivate func listing(_ name: String) -> String {
    let mean = downloads == 0 ? "-" : (meanTime / .seconds(1)).text(places: 3)
    return "\(rows)\t\(failed)\t\(downloads)\t\(mean)\t\(name)"
  }

  /// The numbers as a JSON object, with the names of the summary.
  fileprivate func json(_ name: String) -> String {
    var text = JSONText()
    text.object { HostTally.write((name, self), to: &$0) }
    return String(decoding: text.bytes, as: UTF8.self)
  }
}
