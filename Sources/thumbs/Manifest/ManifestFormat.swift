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
