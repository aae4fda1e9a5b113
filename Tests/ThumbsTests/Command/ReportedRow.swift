import Foundation

/// A line of the report, parsed without the command's own code.
struct ReportedRow {
  struct Malformed: Error {
    let line: String
  }

  let index: Int
  let status: String
  let url: String?
  let origin: String?
  let code: String?
  let retryable: Bool?
  let paths: [String]
  /// The lengths of the files, in the order of `paths`.
  let lengths: [Int]
  let warnings: [String]

  init(_ line: Substring) throws {
    guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
      let index = object["index"] as? Int, let status = object["status"] as? String
    else { throw Malformed(line: String(line)) }
    self.index = index
    self.status = status
    url = object["url"] as? String
    origin = object["origin"] as? String
    code = object["code"] as? String
    retryable = object["retryable"] as? Bool
    let outputs = object["outputs"] as? [[String: Any]] ?? []
    paths = outputs.compactMap { $0["path"] as? String }
    warnings = object["warnings"] as? [String] ?? []
    lengths = outputs.compactMap { $0["bytes"] as? Int }
  }

  /// Returns the rows of a report in the order of the manifest, without a last line about the report.
  static func all(in text: String) throws -> [ReportedRow] {
    try inOrderOfCompletion(text).sorted { $0.index < $1.index }
  }

  /// Returns the rows of a report in the order of its lines, without a last line about the report.
  static func inOrderOfCompletion(_ text: String) throws -> [ReportedRow] {
    guard text.isEmpty || text.hasSuffix("\n") else { throw Malformed(line: "The last line has no end.") }
    let lines = text.split(separator: "\n")
    let rows = lines.last?.hasPrefix("{\"complete\":") == true ? lines.dropLast() : lines[...]
    return try rows.map { try ReportedRow($0) }
  }

  /// True if the report ends with the line that marks it as partial.
  static func isPartial(_ text: String) -> Bool {
    text.split(separator: "\n").last?.hasPrefix("{\"complete\":false,\"items\":") ?? false
  }
}
