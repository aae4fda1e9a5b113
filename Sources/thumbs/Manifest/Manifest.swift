/// An open manifest, whose items are read one at a time.
struct Manifest: Sendable {
  /// The default of the longest side of thumbnails in pixels, by which pages choose among the files of an image.
  static let usualSide = 256

  /// The path as given, or `standard input`.
  let name: String
  /// The file format.
  let format: ManifestFormat
  private var rows: any RowSource
  private let base: ManifestBase?
  private var number = 0
  /// Records that a row was returned, or with false that there are no more.
  private var progress: @Sendable (_ hasRow: Bool) -> Void = { _ in }

  /// Opens the manifest at `path`, or standard input if `path` is `-`. Compressed data is decompressed as it is read.
  ///
  /// A binary plist is read whole here, and the beginning of an XML plist or JSON file is checked. Of the other
  /// formats, only the first bytes (and the header row) are read. Without `format`, the name decides about the format,
  /// or else the first bytes; a file of JSON Lines may be called `.json`.
  init(
    path: String, format: ManifestFormat? = nil, keys: ManifestKeys = ManifestKeys(),
    relativeURLs: RelativeURLs = .refused, side: Int = usualSide, meter: InputMeter = InputMeter()
  ) throws(InputError) {
    let base = ManifestBase(relativeURLs, manifest: path)
    let source = try ByteSource.open(path)
    let part = meter.record { $0.add(size: source.length) }
    var reader = LineReader(source.metered(by: meter, as: part).unpacked().decodingUTF16())
    var named = format ?? ManifestFormat(path: path)
    if format == nil, named == .json, try JSONLineRows.isLikely(&reader, keys: keys) { named = .jsonLines }
    try self.init(reader, format: named, keys: keys, base: base, side: side)
    let (count, readAhead) = (rows.count, rows.readAheadCount)
    meter.record { progress in
      if let count { progress.setRows(count, of: part) }
      progress.setReadAhead(readAhead, of: part)
    }
    progress = Self.progress(of: part, in: meter)
  }

  private static func progress(of part: Int, in meter: InputMeter) -> @Sendable (_ hasRow: Bool) -> Void {
    { hasRow in meter.record { hasRow ? $0.passRow(of: part) : $0.end(part) } }
  }

  /// Opens the manifest in `reader`. Without `format`, the format is detected from its first bytes. Relative URLs are
  /// resolved against `base`; without a base, they fail later.
  init(
    _ reader: LineReader, format: ManifestFormat? = nil, keys: ManifestKeys = ManifestKeys(), base: ManifestBase? = nil,
    side: Int = usualSide
  ) throws(InputError) {
    let isDetected = format == nil
    var reader = reader
    let start = try reader.peek(atLeast: 8)
    var format = format ?? ManifestFormat(startingWith: start)
    if isDetected, format == .plist { format = try Self.markupFormat(&reader) }
    if isDetected, format == .jsonLines, try !JSONLineRows.isLikely(&reader, keys: keys) { format = .json }
    try Self.check(start, of: format, name: reader.name)
    self.name = reader.name
    self.base = base
    self.format = format
    if ![.jsonLines, .csv, .tsv, .text].contains(format), try Self.isBlank(&reader) {
      rows = TextRows(reader)
      return
    }
    self.rows =
      switch format {
      case .plist where start.starts(with: "bplist".utf8): try BinaryPlistRows(reader, keys: keys)
      case .plist: try PlistRows.xml(reader, startingWith: start, keys: keys)
      case .json: try ElementRows(reader, scanner: JSONArrayScanner(rows: keys.rows), keys: keys)
      case .jsonLines: JSONLineRows(reader, keys: keys)
      case .csv: try DelimitedRows(reader, dialect: .csv, keys: keys)
      case .tsv: try DelimitedRows(reader, dialect: .tsv, keys: keys)
      case .text: TextRows(reader)
      case .page, .feed, .markdown:
        ItemRows(
          items: try DocumentItems.read(&reader, format, side: side)[...], found: "there are no images in it")
      }
  }

  /// Creates a manifest of images that are arguments themselves.
  init(_ items: [ManifestItem], meter: InputMeter = InputMeter()) {
    (name, format, base, rows) = ("the command line", .text, nil, ItemRows(items: items[...]))
    let part = meter.record { $0.add(size: nil) }
    meter.record { $0.setRows(items.count, of: part) }
    progress = Self.progress(of: part, in: meter)
  }

  /// Creates a manifest of the images in a directory.
  init(directory: LocalArgument, _ scope: LocalScope, meter: InputMeter = InputMeter()) throws(InputError) {
    (name, format, base, rows) = (directory.name, .text, nil, try DirectoryRows(directory, scope))
    progress = Self.progress(of: meter.record { $0.add(size: nil) }, in: meter)
  }

  /// Creates a manifest of the images in a folder of a bucket.
  init(
    bucket: BucketFolder, _ client: BucketClient, _ scope: LocalScope, meter: InputMeter = InputMeter()
  ) throws(InputError) {
    (name, format, base, rows) = ("\(bucket)/", .text, nil, try BucketRows(bucket, client, scope))
    progress = Self.progress(of: meter.record { $0.add(size: nil) }, in: meter)
  }

  /// Returns the next item, which has the place `index` among the items of all manifests; nil after the last.
  mutating func next(index: Int) throws(InputError) -> ManifestEntry? {
    let item = try rows.next()
    progress(item != nil)
    guard let item else { return nil }
    number += 1
    return (base.map(item.resolved) ?? item).entry(index: index, number: number, manifest: name)
  }

  /// A sentence about files that were left out; nil if there were none.
  var remark: String? { rows.remark(about: name) }

  /// A sentence, without its period, about the list if it has no items.
  var found: String { rows.found }

  /// Returns the format of a document that begins with `<`: that of its first tag. Reads no further than that, because
  /// the rest may arrive later.
  private static func markupFormat(_ reader: inout LineReader) throws(InputError) -> ManifestFormat {
    var count = 1
    while count < LineReader.chunkLength {
      let start = try reader.peek(atLeast: count)
      if let document = MarkupDocument(startingWith: start) { return document.format }
      if start.count < count { break }
      count = start.count + 1
    }
    return .plist
  }

  /// Returns true if there is only whitespace in `reader`, as after a filter that found nothing. Consumes nothing.
  private static func isBlank(_ reader: inout LineReader) throws(InputError) -> Bool {
    var count = 1
    while true {
      let start = try reader.peek(atLeast: count)
      if start.count < count { return true }
      guard start.count < LineReader.chunkLength, start.allSatisfy({ $0 == 0x20 || (0x09...0x0D).contains($0) }) else {
        return false
      }
      count = start.count + 1
    }
  }

  /// Throws for data that is clearly not a manifest, so that its lines are not reported one by one as bad rows.
  private static func check(
    _ start: ArraySlice<UInt8>, of format: ManifestFormat, name: String
  ) throws(InputError) {
    if format == .plist { return }
    if let kind = ForeignFile(start) { throw InputError(name, kind.rawValue) }
    if start.contains(0) { throw InputError(name, "is binary data, not a manifest") }
  }
}

/// The file format of a manifest. The raw values are those of `--format-in`.
enum ManifestFormat: String, CaseIterable, Hashable, Sendable {
  /// A property list, XML or binary: an array of dictionaries.
  case plist
  /// A JSON array of objects or URLs.
  case json
  /// A JSON object or a JSON string with the URL on each line.
  case jsonLines = "jsonl"
  /// Comma-separated values with a header row, RFC 4180.
  case csv
  /// Tab-separated values with a header row.
  case tsv
  /// A URL on each line.
  case text
  /// A web page: its images.
  case page = "html"
  /// A feed or a sitemap in XML: the images of its entries.
  case feed
  /// A text in Markdown: its images.
  case markdown
}

extension MarkupDocument {
  /// The format of a list that is this document.
  fileprivate var format: ManifestFormat {
    switch self {
    case .page: .page
    case .feed: .feed
    case .other: .plist
    }
  }
}

extension ManifestFormat {
  /// The format for the file extension of `path`, ignoring a final `.gz`; nil if the extension is unknown.
  init?(path: String) {
    var extensions = (path.split(separator: "/").last ?? "").split(separator: ".").dropFirst().map { $0.lowercased() }
    if extensions.last == "gz" { extensions.removeLast() }
    switch extensions.last {
    case "plist": self = .plist
    case "json": self = .json
    case "jsonl", "ndjson": self = .jsonLines
    case "csv": self = .csv
    case "tsv": self = .tsv
    case "html", "htm", "xhtml": self = .page
    case "rss", "atom": self = .feed
    case "md", "markdown": self = .markdown
    case "txt", "text", "lst", "list", "urls": self = .text
    default: return nil
    }
  }

  /// Detects the format of a file that begins with `bytes`, after any byte-order mark. CSV and TSV look like text.
  init(startingWith bytes: some Collection<UInt8>) {
    if bytes.starts(with: "bplist".utf8) {
      self = .plist
      return
    }
    switch bytes.first(where: { $0 != 0x20 && !(0x09...0x0D).contains($0) }) {
    case UInt8(ascii: "<"): self = .plist
    case UInt8(ascii: "["): self = .json
    case UInt8(ascii: "{"): self = .jsonLines
    default: self = .text
    }
  }
}

/// A reader of the items of one manifest, in one format.
protocol RowSource: Sendable {
  /// Returns the next item; nil after the last.
  mutating func next() throws(InputError) -> ManifestItem?
  /// The number of items, if it is known before they are read. Default nil.
  var count: Int? { get }
  /// The number of items that were read ahead when the manifest was opened. Default 0.
  var readAheadCount: Int { get }
  /// A sentence, without its period, about a list without items: what is there instead. Default: it is empty.
  var found: String { get }
  /// Returns a sentence about files that were left out of the list called `name`. Default nil: there were none.
  func remark(about name: String) -> String?
}

extension RowSource {
  var count: Int? { nil }
  var readAheadCount: Int { 0 }
  var found: String { "it is empty" }
  func remark(about name: String) -> String? { nil }
}
