import Foundation
import TestSupport

/// A server, a working directory, and runs of the command in it. The cache is in `cache`, thumbnails go to `out`, the
/// report to `report.jsonl`.
struct CommandFixture {
  let server: LoopbackServer
  let directory: TemporaryDirectory
  var cache: String { directory.path("cache") }

  init(_ handler: @escaping LoopbackServer.Handler = { _ in .icon() }) throws {
    server = try LoopbackServer(handler)
    directory = try TemporaryDirectory()
  }

  /// Starts the command with `arguments` alone.
  func start(
    _ arguments: [String], environment: [String: String] = [:], setup: String? = nil,
    input: RunningCommand.Input = .none, output: RunningCommand.Output = .pipe, errors: RunningCommand.Output = .pipe
  ) throws -> RunningCommand {
    try RunningCommand(
      arguments, in: directory.path, environment: environment, setup: setup, input: input, output: output,
      errors: errors)
  }

  /// Runs the command with `arguments` alone.
  func run(_ arguments: String..., environment: [String: String] = [:]) async throws -> CommandResult {
    try await start(arguments, environment: environment).result()
  }

  /// The arguments of a `fetch` without retries, into this fixture's cache and output directory. Every download has a
  /// place at once: one that a test holds back keeps no other waiting. Progress, which a slow machine shows, is left
  /// to those who ask for it.
  func fetchArguments(_ arguments: [String], report: String = "report.jsonl") -> [String] {
    [
      "fetch", "--cache-dir", cache, "-o", "out", "--retries", "0", "--concurrency", "64", "--per-host", "64",
      "--timeout", "2400", "--progress", "none", "--report", report,
    ] + arguments
  }

  /// Runs such a `fetch`.
  func fetch(_ arguments: String...) async throws -> CommandResult {
    try await start(fetchArguments(arguments)).result()
  }

  /// Runs `thumbs cache` on this fixture's cache.
  func cacheCommand(_ arguments: String...) async throws -> CommandResult {
    try await start(["cache"] + arguments + ["--cache-dir", cache]).result()
  }

  /// Writes a text manifest of these paths of the server and returns its name.
  func list(_ paths: [String]) throws -> String {
    _ = try directory.write(paths.map { server.url($0) + "\n" }.joined(), as: "list.txt")
    return "list.txt"
  }

  /// The rows of the report.
  func report() throws -> [ReportedRow] { try ReportedRow.all(in: text("report.jsonl")) }

  /// The bytes of a file of the working directory; of a directory, none.
  func data(_ name: String) throws -> Data {
    var isDirectory: ObjCBool = false
    _ = FileManager.default.fileExists(atPath: directory.path(name), isDirectory: &isDirectory)
    return isDirectory.boolValue ? Data() : try Data(contentsOf: URL(fileURLWithPath: directory.path(name)))
  }

  /// A file of the working directory as text.
  func text(_ name: String) throws -> String { try String(contentsOfFile: directory.path(name), encoding: .utf8) }

  /// A file of the working directory that is a JSON object.
  func object(_ name: String) throws -> [String: Any] {
    try JSONSerialization.jsonObject(with: Data(text(name).utf8)) as? [String: Any] ?? [:]
  }

  /// The names in the output directory, hidden ones too.
  func outputs() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path("out")).sorted()
  }

  /// The bytes of an output file.
  func output(_ name: String) throws -> [UInt8] {
    try Array(Data(contentsOf: URL(fileURLWithPath: directory.path("out/\(name)"))))
  }

  /// How often each path was asked for.
  var requestCounts: [String: Int] { server.requests.reduce(into: [:]) { $0[$1.target, default: 0] += 1 } }
}

extension ServerReply {
  /// A PNG of 40 by 30 pixels that is fresh for an hour.
  static func icon(_ seed: Int = 0, fields: [String: String] = ["Cache-Control": "max-age=3600"]) -> ServerReply {
    .http(200, fields, SampleImage.png(width: 40, height: 30, seed: seed))
  }
}
