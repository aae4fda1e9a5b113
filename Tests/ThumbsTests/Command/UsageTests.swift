import ArgumentParser
import TestSupport
import Testing

@testable import thumbs

@Suite("thumbs: usage", .timeLimit(.minutes(20))) struct UsageTests {
  @Test(arguments: [
    (["fetch", "list.txt", "--nope"], "--nope"), (["fetch", "list.txt", "--size", "big"], "big"),
    (["fetch", "list.txt", "--size", "0"], "--size"), (["fetch", "list.txt", "--concurrency", "0"], "--concurrency"),
    (["fetch", "list.txt", "-q", "-v"], "--quiet"), (["cache", "nope"], "nope"),
    (["cache", "ls", "--format", "xml"], "xml"), (["fetch"], "-"), ([], "apps.plist"),
  ])
  func `A wrong command line exits with 64, names the argument and writes nothing`(
    arguments: [String], name: String
  ) async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png"])

    let result = try await fixture.start(arguments).result()

    #expect(result.ending == .exit(64))
    #expect(result.output.isEmpty)
    #expect(result.errors.hasPrefix("Error: ") && result.errors.contains(name))
    #expect(fixture.server.requests.isEmpty)
    #expect(try fixture.directory.files() == [list])
  }

  @Test(arguments: [
    ([], "fetch"), (["list.txt", "--header-env", "A=NONE"], "fetch"),
    (["list.txt", "--report", "list.txt"], "fetch"), (["retry", "r", "--header-env", "A=NONE"], "retry"),
    (["cache", "dir"], "cache dir"), (["--nope"], "fetch"), (["cache", "dir", "--nope"], "cache dir"),
  ])
  func `Every usage error refers to the help of its command`(arguments: [String], path: String) async throws {
    let fixture = try CommandFixture()
    _ = try fixture.list(["/a.png"])

    let result = try await fixture.start(arguments, environment: ["HOME": ""]).result()

    #expect(result.ending == .exit(64))
    let lines = result.errorLines
    #expect(lines.last == "  See 'thumbs \(path) --help' for more information.", "\(result.errors)")
    #expect(lines.contains { $0.hasPrefix("Usage: thumbs \(path) [") })
  }

  @Test(arguments: [
    [], ["--nope"], ["--cache-dir"], ["--size", "big"], ["retry"], ["cache", "ls", "--format", "xml"],
  ])
  func `The usage and the help after an error have lines of at most 80 characters`(arguments: [String]) async throws {
    let result = try await CommandFixture().start(arguments).result()

    let lines = result.errorLines.dropFirst()
    #expect(result.ending == .exit(64) && lines.contains { $0.hasPrefix("Usage: ") })
    #expect(lines.filter { $0.count > 80 } == [])
  }

  @Test func `The error for a missing manifest explains how to read standard input`() async throws {
    let result = try await CommandFixture().run("fetch")
    #expect(result.ending == .exit(64))
    #expect(result.errors.contains("or - to read one from standard input"))
  }

  @Test(arguments: [("cahce", "cache"), ("cach", "cache"), ("fetsh", "fetch"), ("rerty", "retry")])
  func `A misspelled subcommand is an error unless a file has that name`(word: String, meant: String) throws {
    let options = try ManifestOptions.parse([word, "list.txt"])
    let error = #expect(throws: ValidationError.self) { try options.inputs { _ in false } }

    #expect(error?.message == "There is no file '\(word)'. Did you mean 'thumbs \(meant)'?")
    #expect(try options.inputs { $0 == word } == [.file(word), .file("list.txt")])
  }

  @Test(arguments: ["apps.plist", "-", "list", "cache.txt"])
  func `A name unlike any subcommand is a manifest, whether or not the file exists`(path: String) throws {
    #expect(try ManifestOptions.parse([path]).inputs { _ in false } == [.file(path)])
  }

  @Test func `The --version option prints only the version`() async throws {
    let result = try await CommandFixture().run("--version")

    #expect(result.ending == .exit(0))
    #expect(result.output.wholeMatch(of: #/\d+\.\d+\.\d+\n/#) != nil)
    #expect(result.errors.isEmpty)
  }

  @Test(arguments: [
    (["--help"], ["fetch (default)", "cache"]),
    (["fetch", "--help"], ["--size", "--report", "--gallery", "Exit status"]),
    (["cache", "--help"], ["stats", "ls", "clear", "dir"]),
  ])
  func `Help is printed on standard output`(arguments: [String], words: [String]) async throws {
    let result = try await CommandFixture().start(arguments).result()

    #expect(result.ending == .exit(0))
    #expect(words.filter { !result.output.contains($0) } == [])
    #expect(result.errors.isEmpty)
  }

  @Test(arguments: [
    (["--sise", "64"], ["--sise", "Did you mean '--size'?"]), (["--galery", "a.html"], ["Did you mean '--gallery'?"]),
    (["--size", "big"], ["big", "--size", "give a size such as 256"]), (["--fit", "insid"], ["insid", "'inside'"]),
    (["--concurrency", "0"], ["'0'", "--concurrency", "from 1 to 65535"]),
    (["--max-bytes", "5x"], ["5x", "--max-bytes", "500k"]), (["--header", "x"], ["--header", "Name: value"]),
    (["--quality", "200"], ["200", "--quality", "1 to 100"]), (["--gallery", "-"], ["--gallery", "thumbs.html"]),
    (["--progress", "pretty"], ["pretty", "--progress", "'plain'"]), (["--size"], ["Missing value", "--size"]),
  ])
  func `A usage error names the option, the value and the remedy`(options: [String], words: [String]) throws {
    let error = try #require(throws: (any Error).self) { try Thumbs.parseAsRoot(["fetch", "list.txt"] + options) }
    let message = Thumbs.message(for: error)

    #expect(words.filter { !message.contains($0) } == [], "\(message)")
  }

  @Test(arguments: [
    "", "-", "list.txt", "fetch", "fetch list.txt -q", "-q list.txt --size 64", "-q fetch", "-- fetch", "fetch -- -q",
    "help", "help fetch", "fetch help", "fetch fetch", "--version", "fetch --version", "list.txt --help", "-h",
    "fetch --help-hidden", "--generate-completion-script bash", "retry", "retry r.jsonl", "worker", "doctor --json",
    "doctor x", "cache", "cache stats", "cache stats x", "cache nope", "cache ls --sort used", "cache --help", "report",
    "report failed r.jsonl", "report nope", "--sise 64", "fetch --sise 64", "fetch --size", "fetch --size big x",
    "--refresh --offline x", "fech",
  ])
  func `A command line means what the parser takes it for from its root`(line: String) {
    let arguments = line.split(separator: " ").map(String.init)
    let results = [Thumbs.parseCall, Thumbs.parseAsRoot].map { (parse) -> String in
      do {
        let command = try parse(arguments)
        return "\(type(of: command)): \(command)"
      } catch {
        return "\(Thumbs.exitCode(for: error).rawValue) \(Thumbs.fullMessage(for: error))"
      }
    }

    #expect(results[0] == results[1] && !results[0].isEmpty)
  }

  @Test(arguments: UsageTests.commands) func `Every command has examples that parse`(command: Command) throws {
    let lines = command.configuration.discussion.split(separator: "\n").drop { $0 != "Examples:" }.dropFirst()
    let examples = lines.prefix { $0.hasPrefix("  ") }.map { $0.dropFirst(2) }

    #expect(!examples.isEmpty)
    for example in examples {
      let call = try #require(example.split(separator: "| ").last { $0.contains("thumbs ") })
      let words = call.prefix { $0 != "|" && $0 != ">" }.split(separator: " ").map(String.init)
      #expect(words.first == "thumbs")
      #expect(throws: Never.self) { try Thumbs.parseAsRoot(Array(words.dropFirst())) }
    }
  }

  /// A command that is shown by its name in test results.
  struct Command: CustomTestStringConvertible, Sendable {
    let configuration: CommandConfiguration
    var testDescription: String { configuration.commandName ?? "" }
  }

  /// All commands and their subcommands.
  private static let commands: [Command] = {
    func all(_ command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
      [command] + command.configuration.subcommands.flatMap(all)
    }
    return all(Thumbs.self).map { Command(configuration: $0.configuration) }
  }()
}
