import ArgumentParser
import ImageCache

/// `thumbs report duplicates`: lists the rows whose images are equal, or nearly so.
struct ReportDuplicatesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "duplicates",
    abstract: "List the rows with equal or nearly equal images: group, distance, size, bytes and URL.",
    discussion: """
      The run must have had --phash. The first row of each group has the largest image and says 'keep'; the others say \
      'same' for an equal file, or how many of the 64 bits of their hashes differ from the first. Rows are in a group \
      if they are linked by short distances, so distances to the first row may be longer. Groups with the most rows \
      come first. Images of nearly one brightness, gradients, and rows without a hash are in a group only if their \
      files are equal.

      Examples:
        thumbs fetch --phash --report report.jsonl urls.txt
        thumbs report duplicates report.jsonl
        thumbs report duplicates --distance 2 --json report.jsonl
      """)

  @OptionGroup var argument: ReportArgument

  @Option(
    help: ArgumentHelp("Most bits that may differ in the hashes of two images, 0 to 16.", valueName: "n"))
  var distance = 6

  @Flag(help: "Print a JSON object per group.")
  var json = false

  /// Rejects a distance that links unrelated images.
  func validate() throws {
    let limit = DuplicateSearch.largestDistance
    guard (0...limit).contains(distance) else { throw ValidationError("--distance must be 0 to \(limit).") }
  }

  func run() throws {
    var search = DuplicateSearch()
    try argument.forEach { search.add($0.row) }
    for (number, group) in search.groups(distance: distance).enumerated() {
      print(json ? group.json : group.listing(number + 1))
    }
    guard search.unhashed > 0 else { return }
    let rows = search.unhashed == 1 ? "1 image has" : "\(search.unhashed) images have"
    ProgressOutput.standardError.write(
      "thumbs: \(rows) no hash in the report; only equal files are found. Fetch them with --phash.\n")
  }
}

extension DuplicateSearch.Group {
  /// A line for each row: the number of the group, the relation to the first row, the size, the bytes and the URL,
  /// separated by tabs.
  fileprivate func listing(_ number: Int) -> String {
    let first = "\(number)\tkeep\t\(kept.listing)"
    return ([first] + others.map { "\(number)\t\(relation(of: $0))\t\($0.listing)" }).joined(separator: "\n")
  }

  private func relation(of row: DuplicateSearch.Row) -> String {
    if let digest = row.image.digest, digest == kept.image.digest { return "same" }
    return distance(of: row).map { "\($0)" } ?? "-"
  }

  private func distance(of row: DuplicateSearch.Row) -> Int? {
    guard let first = kept.image.hash, let other = row.image.hash else { return nil }
    return first.distance(to: other)
  }

  /// The group as a JSON object.
  fileprivate var json: String {
    var text = JSONText()
    text.object { text in
      text.member("rows", others.count + 1)
      text.key("keep")
      text.object { kept.write(to: &$0) }
      text.objects("others", others) { row, text in
        row.write(to: &text)
        if let distance = distance(of: row) { text.member("distance", distance) }
      }
    }
    return String(decoding: text.bytes, as: UTF8.self)
  }
}

extension DuplicateSearch.Row {
  /// The size, the bytes and the URL, separated by tabs.
  fileprivate var listing: String { "\(image.size)\t\(bytes)\t\((url ?? "row \(index)").printable)" }

  /// Writes the members of the row.
  fileprivate func write(to text: inout JSONText) {
    text.member("index", index)
    if let url { text.member("url", url) }
    text.member("width", image.size.width)
    text.member("height", image.size.height)
    text.member("bytes", bytes)
    if let digest = image.digest { text.member("sha256", digest.description) }
    if let hash = image.hash { text.member("phash", hash.description) }
  }
}
