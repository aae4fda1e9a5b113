import Foundation
import TestSupport
import Testing

/// The records that a worker has written, parsed without the command's own code.
struct WorkerResults {
  struct Record {
    let header: [String: Any]
    let bodies: [[UInt8]]

    /// The id as text, with quotes if it is a string; nil if it is null.
    var id: String? {
      if let text = header["id"] as? String { return "\"\(text)\"" }
      return (header["id"] as? Int).map(String.init)
    }
    var line: Int? { header["line"] as? Int }
    var status: String? { header["status"] as? String }
    var code: String? { header["code"] as? String }
    var isEnd: Bool { header["end"] as? Bool == true }
  }

  /// The results, without the last record.
  private(set) var records: [Record] = []
  /// The last record: the numbers of rows received and finished; nil without one.
  private(set) var end: (received: Int, finished: Int)?
  /// The number of bytes after the last whole record.
  private(set) var restCount = 0

  /// Reads frames.
  init(frames bytes: [UInt8]) throws {
    var rest = bytes[...]
    while let record = try Self.frame(&rest) { add(record) }
    restCount = rest.count
  }

  /// Reads lines of JSON.
  init(lines text: String) throws {
    for line in text.split(separator: "\n") {
      let header = try Self.object(Array(line.utf8))
      let bodies = try (header["data"] as? [String] ?? []).map { Array(try #require(Data(base64Encoded: $0))) }
      add(Record(header: header, bodies: bodies))
    }
  }

  /// Returns the result with this id.
  func result(_ id: String) -> Record? { records.first { $0.id == id } }

  private mutating func add(_ record: Record) {
    if record.isEnd, let received = record.header["received"] as? Int, let count = record.header["finished"] as? Int {
      end = (received, count)
    } else {
      records.append(record)
    }
  }

  /// Returns the next frame, and removes it from `rest`; nil if it is not whole.
  private static func frame(_ rest: inout ArraySlice<UInt8>) throws -> Record? {
    guard rest.count >= 4 else { return nil }
    let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    guard rest.count >= 4 + length else { return nil }
    let header = try object(Array(rest.dropFirst(4).prefix(length)))
    var place = rest.startIndex + 4 + length
    var bodies: [[UInt8]] = []
    for count in header["bodies"] as? [Int] ?? [] {
      guard rest.endIndex - place >= count else { return nil }
      bodies.append(Array(rest[place..<place + count]))
      place += count
    }
    rest = rest[place...]
    return Record(header: header, bodies: bodies)
  }

  private static func object(_ bytes: [UInt8]) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
  }
}

extension CommandFixture {
  /// The arguments of a worker without retries and with long deadlines, with this fixture's cache.
  func workerArguments(_ arguments: [String] = []) -> [String] {
    ["worker", "--size", "16", "--cache-dir", cache, "--retries", "0", "--timeout", "2400"] + arguments
  }

  /// Runs a worker with the lines `input`, and returns its ending, its output and its results as frames.
  func work(_ input: [String], _ arguments: String...) async throws -> (ending: CommandResult.Ending, WorkerResults) {
    let command = try start(workerArguments(arguments), input: .pipe)
    command.write(input.map { $0 + "\n" }.joined())
    command.closeInput()
    let result = await command.result()
    return (result.ending, try WorkerResults(frames: command.output.bytes))
  }

  /// Returns a line with the id `id` and the URL of `path` on the server.
  func row(_ id: Int, _ path: String) -> String { #"{"id":\#(id),"url":"\#(server.url(path))"}"# }
}
