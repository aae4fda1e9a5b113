import ArgumentParser
import Testing

@testable import thumbs

@Suite("thumbs: help", .timeLimit(.minutes(20))) struct HelpTests {
  @Test(arguments: [["-h"], ["fetch", "-h"], ["fetch", "list.txt", "--size", "big", "-h"], ["retry", "-h"]])
  func `The short help fits on a screen and exits with 0`(arguments: [String]) async throws {
    let result = try await CommandFixture().start(arguments).result()

    #expect(result.ending == .exit(0) && result.errors.isEmpty)
    let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
    // Of 24 lines, one is left for the prompt.
    #expect(lines.count <= 24 && lines.allSatisfy { $0.count <= 79 })
    #expect(result.output == (arguments[0] == "retry" ? ShortHelp.retry : ShortHelp.fetch) + "\n")
  }

  @Test func `The short help has twelve options, with the names and defaults of the full help`() throws {
    let known = CommandOptions(FetchCommand.self).names
    let options = ShortHelp.fetch.matches(of: #/\n  (?:(-\w), |    )(--[a-z\-]+)/#)

    #expect(options.count == 12)
    #expect(options.allSatisfy { known.contains(String($0.2)) && $0.1.map { known.contains(String($0)) } != false })
    let retried = ShortHelp.retry.matches(of: #/\n  (?:(-\w), |    )(--[a-z\-]+)/#)
    #expect(retried.allSatisfy { CommandOptions(RetryCommand.self).names.contains(String($0.2)) })
    #expect(try NetworkOptions.parse([]).concurrency == 16 && ShortHelp.fetch.contains("(default: 16)"))
  }

  @Test(arguments: [ShortHelp.fetch, ShortHelp.retry]) func `The examples of the short help parse`(page: String) throws
  {
    let examples = page.split(separator: "\n").drop { $0 != "Examples:" }.dropFirst().prefix { $0.hasPrefix("  ") }

    #expect(examples.count >= 2)
    for example in examples {
      let call = try #require(example.split(separator: "| ").last)
      #expect(throws: Never.self) { try Thumbs.parseAsRoot(call.split(separator: " ").dropFirst().map(String.init)) }
    }
  }

  @Test(arguments: ["-h", "--help"]) func `Commands of the cache have one help`(option: String) async throws {
    let result = try await CommandFixture().run("cache", "prune", option)

    #expect(result.ending == .exit(0) && result.output.contains("--cache-size <size>"))
  }

  @Test(arguments: ["stats", "ls", "show", "why", "verify", "prune", "rm", "limit", "clear", "dir"])
  func `The usage of a command of the cache fits the width of a terminal`(command: String) async throws {
    let lines = try await CommandFixture().run("cache", command, "-h").output.split(separator: "\n")

    #expect(lines.filter { $0.count > 80 } == [])
    let usage = lines.drop { !$0.hasPrefix("USAGE: thumbs cache \(command) [--cache-dir <dir>] [--no-config]") }
    #expect(usage.first?.count ?? 0 > 40)
  }

  @Test func `An -h after the end of options is a manifest`() async throws {
    #expect(try await CommandFixture().run("fetch", "--", "-h").errors.contains("-h: there is no such file"))
  }

  @Test func `The full help shows one long name of each option, and the parser knows all`() async throws {
    let help = try await CommandFixture().run("fetch", "--help").output

    let hidden = [
      "--url-key", "--filter", "--output-dir", "--timeout", "--retry ", "--max-filesize", "--max-redirs", "--sizes",
    ]
    #expect(hidden.filter(help.contains) == [])
    let shown = [
      "  -s, --size <size>       Thumbnail", "  -o, --output <dir>      Output", "  --retries <n>           Maximum",
      "  --max-time <time>       Maximum", "  --url-column <key>      Column", "  -n, --dry-run           Print",
      "MANIFESTS:", "THUMBNAILS:", "DOWNLOADS:", "Examples:", "Exit status:",
    ]
    #expect(shown.filter { !help.contains($0) } == [], "\(help)")
  }

  @Test(arguments: [
    ("  -a, --first, --second <x>  Does.", "  -a, --first <x>         Does."),
    (
      "  --first, --second <x>\n                          Does\n                          it.",
      "  --first <x>             Does\n                          it."
    ),
    (
      "  --a-name-of-27-letters-here, --b <x>\n                          Does.",
      "  --a-name-of-27-letters-here <x>\n                          Does."
    ),
    ("  -a, --first, --second, --third <x>\n                          Does.", "  -a, --first <x>         Does."),
    (
      "USAGE: thumbs cache some [--one <value>] <two> ... [--three <condition> ...] [--four-and-five]",
      "USAGE: thumbs cache some [--one <value>] <two> ... [--three <condition> ...]\n       [--four-and-five]"
    ),
    ("  --only <x>              Does.\n", "  --only <x>              Does.\n"),
    ("  --first, --second\n  --other                 Does.", "  --first\n  --other                 Does."),
    ("        Text with --a, --b.", "        Text with --a, --b."),
  ])
  func `Further names are removed without moving descriptions`(help: String, expected: String) {
    #expect(FullHelp.withoutAliases(help) == expected)
  }
}
