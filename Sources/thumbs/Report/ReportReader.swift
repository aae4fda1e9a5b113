import BatchFetch
import ImageCache

/// Reads a report line by line, in constant memory.
struct ReportReader {
  /// A line with a row.
  struct Line {
    let row: ReportRow
    /// The JSON text.
    let bytes: [UInt8]
    /// The number of the line, from 1.
    let number: Int
  }

  /// The maximum length of a line in bytes: room for the longest line of a manifest with every byte escaped.
  static let longestLine = 16 * LineReader.longestLine

  /// The name of the report in messages.
  var name: String { lines.name }
  /// True if the report says that rows of its run are missing.
  var isPartial: Bool { proof.isPartial }
  /// True if the report does not prove that every row is there. Known at its end.
  var isUnproven: Bool { proof.isCut }
  /// The lists of which the report says that it is complete, or one of their shards: one for each last line, as several
  /// reports may be in one file.
  private(set) var lists: [ReportedList] = []
  /// The numbers of the lines that are not rows: the ends of reports, and an incomplete last line.
  private(set) var otherLines: Set<Int> = []
  /// The ends that say that a report is complete.
  private(set) var ends: [[UInt8]] = []
  /// True if the last line is not finished. It is ignored: the process was killed, or is still writing it.
  private(set) var isCut = false
  private var proof = ReportProof()
  private var lines: LineReader

  /// Opens the report at `path`, which may be compressed with gzip; `-` is standard input.
  init(path: String) throws(InputError) {
    self.init(LineReader(try .open(path, expecting: "a report").unpacked(), longestLine: Self.longestLine))
  }

  /// Reads the report in `lines`.
  init(_ lines: LineReader) { self.lines = lines }

  /// Returns the next row; nil after the last.
  ///
  /// - Throws: An error for a line that is not one of a report, and after which the file goes on.
  mutating func next() throws(InputError) -> Line? {
    while let line = try lines.next(skipping: .spaces) {
      guard let bytes = line.bytes else { throw InputError(lines.name, at: .line(line.number), "is too long") }
      if bytes.allSatisfy({ $0 == 0x20 }) { continue }
      do throws(ParseError) {
        let value = try JSONDocument.parse(bytes)
        if let row = ReportRow(value) {
          proof.addRow()
          return Line(row: row, bytes: bytes, number: line.number)
        }
        guard let end = value as? [String: Any], proof.addEnd(end) else {
          throw ParseError(reason: "it has no index and status")
        }
        otherLines.insert(line.number)
        if end["complete"] as? Bool == true { ends.append(bytes) }
        if let list = ReportedList(end) { lists.append(list) }
      } catch {
        guard !line.isEnded, line.number > 1 || Self.isStart(bytes) else {
          throw InputError(lines.name, at: .line(line.number), "not a report line: \(error.reason)")
        }
        isCut = true
        otherLines.insert(line.number)
        proof.addPart()
      }
    }
    return nil
  }

  /// True if `bytes` are the beginning of a line: nothing else tells a report that was cut in its first line from
  /// another file.
  private static func isStart(_ bytes: [UInt8]) -> Bool {
    [#"{"index":"#, #"{"complete":"#].contains { bytes.starts(with: $0.utf8) || $0.utf8.starts(with: bytes) }
  }
}

/// A row as a report has it. The texts of a report that is read come from outside and may contain anything.
struct ReportRow: Hashable, Sendable {
  /// A file of the row.
  struct File: Hashable, Sendable {
    /// The length in bytes.
    let bytes: Int
    /// The result of writing it for a row that succeeded; nil if it is not known.
    let outcome: OutputWriter.WriteResult?
  }

  /// The image of a row that succeeded.
  struct Image: Hashable, Sendable {
    var size: PixelSize
    var digest: BodyDigest?
    /// The perceptual hash; nil without `--phash`.
    var hash: PerceptualHash?
  }

  let index: Int
  let status: ReportLine.Status
  let line: Int?
  let name: String?
  let manifest: String?
  let url: String?
  /// The page in which the image was found.
  let page: String?
  let origin: String?
  let code: String?
  let isRetryable: Bool
  let message: String?
  /// The time of the download; nil if the row did not succeed.
  let download: Duration?
  /// The length of the image in bytes; 0 if the row did not succeed.
  let imageBytes: Int
  /// The image; nil if the row did not succeed, or if its files were left alone.
  let image: Image?
  let files: [File]
  /// The files with the image of `--fallback` that the row got; empty if it has none.
  let fallback: [ReportLine.Output]
  let hasFallback: Bool
  /// True if a retry skipped the row. Its line in the report is an old one.
  let isSkipped: Bool
  /// The data needed to retry the row; nil if the line does not contain it.
  let again: ReportLine.Again?

  /// The time of a download for this row alone; nil if the image was in a cache.
  var ownDownload: Duration? { origin == "network" || origin == "revalidated" ? download : nil }

  /// The upper bound of a time, in milliseconds: a year. Larger ones are clamped, so that sums cannot overflow.
  private static let longestTime = 31_536_000_000

  /// Reads the row from the JSON value `value`; nil if that is not a row.
  init?(_ value: Any) {
    guard let row = value as? [String: Any], let index = row["index"] as? Int,
      let status = (row["status"] as? String).flatMap(ReportLine.Status.init(rawValue:))
    else { return nil }
    self.index = index
    self.status = status
    line = row["line"] as? Int
    name = row["name"] as? String
    manifest = row["manifest"] as? String
    url = row["url"] as? String
    page = row["page"] as? String
    origin = row["origin"] as? String
    code = row["code"] as? String
    isRetryable = row["retryable"] as? Bool ?? false
    message = row["message"] as? String
    download = ((row["ms"] as? [String: Any])?["download"] as? Int).map {
      .milliseconds(min(max(0, $0), Self.longestTime))
    }
    let source = row["source"] as? [String: Any]
    imageBytes = max(0, source?["bytes"] as? Int ?? 0)
    image = source.flatMap { Image($0, hash: row["phash"] as? String) }
    let outputs = row["outputs"] as? [[String: Any]] ?? []
    files = outputs.map { File(bytes: max(0, $0["bytes"] as? Int ?? 0), outcome: nil) }
    hasFallback = row["fallback"] as? Bool ?? false
    fallback = hasFallback ? outputs.compactMap(ReportLine.Output.init(json:)) : []
    isSkipped = false
    again = (row["again"] as? [String: Any]).flatMap(ReportLine.Again.init(json:))
  }

  /// Creates the row that a report with `line` has.
  init(_ line: ReportLine) {
    (index, status, self.line, name) = (line.index, line.status, line.line, line.name)
    (manifest, url, page, fallback, again) = (line.manifest, line.url, line.page, line.fallback, line.again)
    hasFallback = !line.fallback.isEmpty
    var set: ThumbnailSet?
    var outputs: [ReportLine.Output] = []
    var failure: FetchFailure?
    switch line.outcome {
    case .done(let done, let files): (set, outputs, origin, isSkipped) = (done, files, done.origin.rawValue, false)
    case .kept(_, let files): (outputs, origin, isSkipped) = (files, ReportLine.existing, false)
    case .failed(let cause): (failure, origin, isSkipped) = (cause, nil, false)
    case .skipped: (origin, isSkipped) = (nil, true)
    }
    (code, isRetryable) = (failure?.code.description, failure?.code.isRetryable ?? false)
    (message, download, imageBytes) = (failure?.message, set?.timings.download, set?.sourceBytes ?? 0)
    image = set.map { Image(size: $0.source.size, digest: $0.digest, hash: $0.perceptualHash) }
    files =
      outputs.map { File(bytes: $0.byteCount, outcome: $0.outcome) }
      + line.fallback.map { File(bytes: $0.byteCount, outcome: nil) }
  }
}

extension ReportRow.Image {
  /// Reads the member `source` of a line, and the text of its hash; nil without a size.
  fileprivate init?(_ source: [String: Any], hash: String?) {
    guard let width = source["width"] as? Int, let height = source["height"] as? Int, width > 0, height > 0 else {
      return nil
    }
    size = PixelSize(width: width, height: height)
    digest = (source["sha256"] as? String).flatMap { BodyDigest($0) }
    self.hash = hash.flatMap { PerceptualHash($0) }
  }
}

/// Decides if a report has every row of its run, by its last line. A plain value that is informed of the lines in their
/// order. Several reports may follow one another.
struct ReportProof: Hashable, Sendable {
  /// True if a line says that rows are missing.
  private(set) var isPartial = false
  /// The number of rows, and that of the rows that the ends count.
  private var (rows, items) = (0, 0)
  /// False after an end that does not count its rows, as older versions wrote it for a shard.
  private var countsItems = true
  private var endsWithEnd = false

  /// True if the report was cut, or may have been: it does not say that every row is there.
  var isCut: Bool { !isPartial && !(endsWithEnd && (!countsItems || items == rows)) }

  /// Records a row.
  mutating func addRow() {
    rows += 1
    endsWithEnd = false
  }

  /// Records the beginning of a line that is not finished.
  mutating func addPart() { endsWithEnd = false }

  /// Records a last line with these members. Returns false if it is not one.
  mutating func addEnd(_ members: [String: Any]) -> Bool {
    guard let isComplete = members["complete"] as? Bool else { return false }
    if !isComplete { isPartial = true }
    if let count = members["items"] as? Int { items &+= count } else { countsItems = false }
    endsWithEnd = true
    return true
  }
}

/// The list of a complete run, as in the last line of a report.
struct ReportedList: Hashable, Sendable {
  /// The number of rows.
  let rows: Int
  /// The digest of the rows, see ``ListDigest``; nil if the line has none.
  let digest: String?

  /// Reads the members of a last line; nil if they do not contain the number of rows.
  init?(_ members: [String: Any]) {
    guard let rows = members["rows"] as? Int else { return nil }
    self.rows = rows
    digest = members["list"] as? String
  }
}
