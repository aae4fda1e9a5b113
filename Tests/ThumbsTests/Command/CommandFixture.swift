import Foundation
import TestSupport

/// A server and a working directory for runs of the command. The cache is in `cache`, the thumbnails in `out`, and the
/// report in `report.jsonl`.
struct CommandFixture {
  let server: LoopbackServer
  let directory: TemporaryDirectory
  var cache: String { directory.path("cache") }

  init(_ handler: @escaping LoopbackServer.Handler = { _ in .icon() }) throws {
    server = try LoopbackServer(handler)
    directory = try TemporaryDirectory()
  }

  /// Starts the command with exactly `arguments`.
  func start(
    _ arguments: [String], environment: [String: String] = [:], setup: String? = nil,
    input: RunningCommand.Input = .none, output: RunningCommand.Output = .pipe, errors: RunningCommand.Output = .pipe
  ) throws -> RunningCommand {
    try RunningCommand(
      arguments, in: directory.path, environment: environment, setup: setup, input: input, output: output,
      errors: errors)
  }

  /// Runs the command with exactly `arguments`.
  func run(_ arguments: String..., environment: [String: String] = [:]) async throws -> CommandResult {
    try await start(arguments, environment: environment).result()
  }

  /// The arguments of a `fetch` without retries, into this fixture's cache and output directory. The concurrency is
  /// high enough that a download held back by a test delays no other. Progress is off by default, because it would
  /// appear only on slow machines.
  func fetchArguments(_ arguments: [String], report: String = "report.jsonl") -> [String] {
    [
      "fetch", "--cache-dir", cache, "-o", "out", "--retries", "0", "--concurrency", "64", "--per-host", "64",
      "--timeout", "2400", "--progress", "none", "--report", report,
    ] + arguments
  }

  /// Runs a `fetch` with the arguments of ``fetchArguments(_:report:)``.
  func fetch(_ arguments: String...) async throws -> CommandResult {
    try await start(fetchArguments(arguments)).result()
  }

  /// Runs `thumbs cache` on this fixture's cache.
  func cacheCommand(_ arguments: String...) async throws -> CommandResult {
    try await start(["cache"] + arguments + ["--cache-dir", cache]).result()
  }

  /// Writes a text manifest with the URLs of `paths` on the server, and returns its name.
  func list(_ paths: [String]) throws -> String { try list(urls: paths.map(server.url)) }

  /// Writes a text manifest with `urls`, and returns its name.
  func list(urls: [String]) throws -> String {
    _ = try directory.write(urls.map { $0 + "\n" }.joined(), as: "list.txt")
    return "list.txt"
  }

  /// The rows of the report.
  func report() throws -> [ReportedRow] { try ReportedRow.all(in: text("report.jsonl")) }

  /// The bytes of a file in the working directory; empty for a directory.
  func data(_ name: String) throws -> Data {
    var isDirectory: ObjCBool = false
    _ = FileManager.default.fileExists(atPath: directory.path(name), isDirectory: &isDirectory)
    return isDirectory.boolValue ? Data() : try Data(contentsOf: URL(fileURLWithPath: directory.path(name)))
  }

  /// The text of a file in the working directory.
  func text(_ name: String) throws -> String { try String(contentsOfFile: directory.path(name), encoding: .utf8) }

  /// The JSON object in a file in the working directory.
  func object(_ name: String) throws -> [String: Any] {
    try JSONSerialization.jsonObject(with: Data(text(name).utf8)) as? [String: Any] ?? [:]
  }

  /// The names in the output directory, including hidden ones, sorted.
  func outputs() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path("out")).sorted()
  }

  /// The bytes of an output file.
  func output(_ name: String) throws -> [UInt8] {
    try Array(Data(contentsOf: URL(fileURLWithPath: directory.path("out/\(name)"))))
  }

  /// The number of requests for each path.
  var requestCounts: [String: Int] { server.requests.reduce(into: [:]) { $0[$1.target, default: 0] += 1 } }
}

extension ServerReply {
  /// A PNG of 40 by 30 pixels that is fresh for an hour.
  static func icon(_ seed: Int = 0, fields: [String: String] = ["Cache-Control": "max-age=3600"]) -> ServerReply {
    .http(200, fields, SampleImage.png(width: 40, height: 30, seed: seed))
  }
}
