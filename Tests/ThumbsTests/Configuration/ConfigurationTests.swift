import ArgumentParser
import Foundation
import HTTPTypes
import ImageCache
import TestSupport
import Testing

@testable import thumbs

@Suite struct ConfigurationTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path("config.toml") }

  init() throws { directory = try TemporaryDirectory() }

  /// Returns the arguments for `words` with the configuration `text`.
  private func merge(_ words: String, _ text: String, _ variables: [String: String] = [:]) throws -> [String] {
    _ = try directory.write(text, as: "config.toml")
    chmod(path, 0o600)
    let environment = ["THUMBS_CONFIG": path, "HOME": "/home/me"].merging(variables) { $1 }
    return try Configuration.merge(words.split(separator: " ").map(String.init), environment: environment)
  }

  private func fetch(_ words: String, _ text: String, _ variables: [String: String] = [:]) throws -> FetchCommand {
    try #require(try Thumbs.parseAsRoot(merge(words, text, variables)) as? FetchCommand)
  }

  @Test func `Settings are defaults for the options of the same names`() throws {
    let command = try fetch(
      "list.txt",
      """
      # A comment.
      size = [64, "32x16@2x"]
      concurrency = 8
      max-time = 2.5
      rate = "5/s"
      robots = true
      enlarge = false
      output = "~/icons"
      header = ["X-A: 1", "X-B: ${TOKEN}"]
      [fetch]
      retry = 7
      [cache]
      json = true
      """, ["TOKEN": "t"])

    #expect(command.pixels.sizes.map(\.description) == ["64", "32x16@2x"])
    #expect(command.network.concurrency == 8 && command.network.timeout == .seconds(2.5))
    #expect(command.network.retries == 7 && command.politeness.rate != nil && command.politeness.robots)
    #expect(!command.pixels.enlarge && command.output.directory == "/home/me/icons")
    let fields = try Credentials(command.network, environment: [:]).headerFields
    #expect(fields.map(\.value) == ["1", "t"])
  }

  @Test func `The command line replaces settings, and header fields one by one`() throws {
    let text = """
      size = [64, 128]
      timeout = 9
      robots = true
      quiet = true
      refresh = true
      header = ["X-A: 1", "X-B: 2"]
      """
    let words = "-s8 --max-time 3 -v --offline --no-robots list.txt -H x-b:3"
    let command = try fetch(words, text)

    #expect(command.pixels.sizes.map(\.description) == ["8"] && command.network.timeout == .seconds(3))
    #expect(!command.politeness.robots && command.output.verbose && !command.output.quiet)
    #expect(command.caching.offline && !command.caching.refresh)
    let fields = try Credentials(command.network, environment: [:]).headerFields
    #expect(fields.map(\.value) == ["1", "3"])
  }

  @Test func `A setting may be an empty string`() throws {
    #expect(try fetch("list.txt", "user-agent = \"\"\nretries = 1\n").network.userAgent?.isEmpty == true)
    let error = #expect(throws: ConfigurationError.self) { try merge("list.txt", "size = [64, \"\"]") }
    #expect(error?.reason.hasPrefix("The value '' is invalid for '--size <size>'") == true)
  }

  @Test func `A table of the command wins over the top of the file`() throws {
    let text = "concurrency = 1\nretries = 1\n[fetch]\nconcurrency = 2\n[retry]\nconcurrency = 3\nreport = \"r\"\n"

    #expect(try fetch("list.txt", text).network.concurrency == 2)
    let retry = try #require(try Thumbs.parseAsRoot(merge("retry r.jsonl", text)) as? RetryCommand)
    #expect(retry.network.concurrency == 3 && retry.network.retries == 1 && retry.output.report == "r")
  }

  @Test func `A retry keeps the directory, names and sizes of its report, and its report is not replaced`() throws {
    let text = """
      output = "elsewhere"
      name-template = "{hash}.{ext}"
      size = 64
      report = "report.jsonl"
      summary = "summary.json"
      gallery = "page.html"
      overwrite = true
      concurrency = 4
      """
    let retry = try #require(try Thumbs.parseAsRoot(merge("retry r.jsonl", text)) as? RetryCommand)

    #expect(retry.network.concurrency == 4 && retry.output.directory == nil && !retry.output.overwrite)
    #expect(retry.output.report == nil && retry.output.summary == nil && retry.output.gallery == nil)

    let rows = try #require(try Thumbs.parseAsRoot(merge("retry --list a.txt r.jsonl", text)) as? RetryCommand)
    #expect(rows.pixels.specs == [ThumbnailSpec(width: 64)] && rows.naming.pattern != nil)
    #expect(rows.output.directory == "elsewhere" && rows.output.gallery == nil)
  }

  @Test(arguments: [
    ("cache ls", ["cache", "ls", "--cache-dir=/c", "--format=json"]),
    ("cache dir", ["cache", "dir", "--cache-dir=/c"]),
    ("cache ls --json", ["cache", "ls", "--cache-dir=/c", "--json"]), ("cache", ["cache"]),
    ("doctor --json", ["doctor", "--cache-dir=/c", "--json"]), ("cache nope", ["cache", "nope"]),
    ("doctor --no-config", ["doctor", "--no-config"]), ("--version", ["--version"]),
    ("fetch --help", ["fetch", "--help"]),
    ("help fetch", ["help", "fetch"]), ("--no-config x", ["--no-config", "x"]),
    ("x -- --no-config", ["fetch", "--cache-dir=/c", "--max-time=5", "x", "--", "--no-config"]),
  ])
  func `Only settings for the command are merged`(words: String, expected: [String]) throws {
    let text = "cache-dir = \"/c\"\nmax-time = 5\n[cache]\nformat = \"json\"\n"

    #expect(try merge(words, text) == expected)
  }

  @Test func `The doctor runs without the settings of an invalid file`() throws {
    #expect(try merge("doctor --json", "cache-dir = \"/c\"\nnope = 1\n") == ["doctor", "--json"])
  }

  @Test(arguments: [
    ("--robots --no-robots x", ["fetch", "x"]), ("--no-robots --robots x", ["fetch", "--robots", "x"]),
    ("--no-cache x", ["--no-cache", "x"]), ("--no-size x", ["fetch", "--no-size", "x"]),
  ])
  func `A flag is switched off by --no- and its name`(words: String, expected: [String]) throws {
    let arguments = words.split(separator: " ").map(String.init)
    #expect(try Configuration.merge(arguments, environment: [:]) == expected)
  }

  private static let dots = String(repeating: "1.", count: 20)

  @Test(arguments: [
    ("sizes = 64\nconcurency = 8", "line 2: there is no option 'concurency'. Did you mean 'concurrency'?"),
    ("qualtiy = 8", "line 1: there is no option 'qualtiy'. Did you mean 'quality'?"),
    ("[fetch]\nmax_run_time = 8", "line 2: there is no option 'max_run_time'. Did you mean 'max-run-time'?"),
    ("[cache]\nformt = \"json\"", "line 2: there is no option 'formt'. Did you mean 'format'?"),
    ("dry-rum = true", "line 1: there is no option 'dry-rum'."),
    ("jobs = 8", "line 1: there is no option 'jobs'. Did you mean '-j, --concurrency N'?"),
    ("\nconcurrency = 0", "line 2: The value '0' is invalid for '--concurrency <n>': give a whole number from 1"),
    ("size = [64,\n\"big\"]", "line 1: The value 'big' is invalid for '--size <size>': give a size such as 256"),
    ("robots = 1", "line 1: 'robots' is true or false."),
    ("rate = true", "line 1: give a string or a number for 'rate'."),
    ("rate = [\"5/s\"]", "line 1: 'rate' takes one value, not an array."),
    ("size = [true]", "line 1: give strings or numbers"),
    ("rate = 2020-01-01", "line 1: give a string or a number for 'rate'."),
    ("[fetch.x]\ny = 1", "line 1: there is no option 'x'."), ("[nope]\nsize = 1", "line 1: there is no table [nope]"),
    ("[cache]\nsize = 1", "line 2: there is no option 'size'."),
    ("[cache]\nrepair = true", "line 2: 'repair' can be given only on the command line."),
    ("dry-run = true", "line 1: 'dry-run' can be given only on the command line."),
    ("size = \(String(repeating: "[", count: 40))", "line 1: values are nested more than 16 deep."),
    ("user-agent = \"a\nreferer = \"\(dots)\"", "line 1: "), ("referer = 'a\nreferer = '\(dots)'", "line 1: "),
    ("user-agent = \"a\\\nreferer = \"\(dots)\"", "line 1: "),
    ("retries = 1\nretry = 2", "line 2: 'retries' is set in line 1, too; keep one of them."),
    ("size = 1\nsize = 2", "line 2: "), ("size =", "line 1: "),
    ("quiet = true\nverbose = true", "cannot be used together"),
    ("header = \"secret\"", "line 1: header: give a field such as 'Name: value'."),
    ("header = \"A: ${NO_VARIABLE}\"", "line 1: the environment variable NO_VARIABLE is not set."),
    ("configured-header = \"A: b\"", "line 1: there is no option 'configured-header'."),
  ])
  func `An error names the file, the line and the reason`(text: String, message: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try merge("list.txt", text) }

    let description = error.map { "\($0)" } ?? ""
    #expect(description.hasPrefix(path) && description.contains(message), "\(description)")
    #expect(!description.contains("secret"))
  }

  @Test(arguments: [
    ("# A comment.\n", "a", " = 1", 2), ("[", "a", "]", 1), ("x = 1\n[[ ", "'a.b' ", " ]]", 2),
    ("x = { ", "\"\" ", " = 1 }", 1), ("x = \"\"\"\\\"\"\"\"\"\n", "a", " = 1", 2),
  ])
  func `A key of too many parts is an error and does not crash the process`(
    head: String, part: String, tail: String, line: Int
  ) throws {
    let key = Array(repeating: part, count: 20_000).joined(separator: ".")
    let error = #expect(throws: ConfigurationError.self) { try merge("list.txt", head + key + tail) }

    #expect(error?.description == "\(path), line \(line): a key has more than 16 parts.")
  }

  @Test(arguments: [(16, "there is no table [a]"), (17, "a key has more than 16 parts")])
  func `A key may have 16 parts`(count: Int, reason: String) throws {
    let key = Array(repeating: "a", count: count).joined(separator: ".")
    let error = #expect(throws: ConfigurationError.self) { try merge("list.txt", "\(key) = 1") }

    #expect(error?.reason.hasPrefix(reason) == true, "\(String(describing: error))")
  }

  @Test(.timeLimit(.minutes(10))) func `A long key resembles no option, and takes no long time`() throws {
    let key = String(repeating: "s", count: 200_000)
    let error = #expect(throws: ConfigurationError.self) { try merge("list.txt", "\(key) = 1") }

    #expect(error?.reason == "there is no option '\(key)'")
  }

  @Test func `Comments and strings may contain any number of dots`() throws {
    let dots = Self.dots
    let text = """
      # \(dots)
      user-agent = "\\"\(dots)" # \(dots)
      referer = \"\"\"
      \(dots)"\(dots)\"\"\"\"
      header = ['X-A: \(dots)', '''X-B: '\(dots)''']
      "output" = '.'
      """
    let command = try fetch("list.txt", text)

    #expect(command.network.userAgent == "\"\(dots)" && command.network.referer == "\(dots)\"\(dots)\"")
    #expect(command.network.configuredHeaders.count == 2 && command.output.directory == ".")
  }

  @Test(arguments: [(0o620, false), (0o602, false), (0o644, true), (0o400, true)] as [(mode_t, Bool)])
  func `A file that others may write to is refused`(mode: mode_t, isUsed: Bool) throws {
    _ = try directory.write("concurrency = 8\n", as: "config.toml")
    chmod(path, mode)
    let merged = Result { try Configuration.merge(["x"], environment: ["THUMBS_CONFIG": path]) }

    if isUsed {
      #expect(try merged.get() == ["fetch", "--concurrency=8", "x"])
    } else {
      let error = #expect(throws: ConfigurationError.self) { try merged.get() }
      #expect(error?.reason == "other users may write to it; run: chmod go-w \(path)")
    }
  }

  @Test func `A pipe or a directory is refused at once`() throws {
    #expect(mkfifo(path, 0o600) == 0)
    for path in [path, directory.path] {
      let error = #expect(throws: ConfigurationError.self) {
        try Configuration.merge(["x"], environment: ["THUMBS_CONFIG": path])
      }
      #expect(error?.reason == "is not a regular file; give a TOML file")
    }
  }

  @Test func `The file is that of THUMBS_CONFIG, else in XDG_CONFIG_HOME, else in the home directory`() throws {
    for (folder, count) in [("xdg/thumbs", 1), ("home/.config/thumbs", 2)] {
      try FileManager.default.createDirectory(atPath: directory.path(folder), withIntermediateDirectories: true)
      _ = try directory.write("concurrency = \(count)\n", as: folder + "/config.toml")
    }
    _ = try directory.write("concurrency = 3\n", as: "own.toml")
    let all = ["HOME": directory.path("home"), "XDG_CONFIG_HOME": directory.path("xdg")]
    func concurrency(_ environment: [String: String]) throws -> String? {
      let arguments = try Configuration.merge(["x"], environment: environment)
      return arguments.count > 1 ? arguments[1] : nil
    }

    #expect(try concurrency(all) == "--concurrency=1")
    #expect(try concurrency(["HOME": directory.path("home")]) == "--concurrency=2")
    #expect(try concurrency(all.merging(["XDG_CONFIG_HOME": "relative"]) { $1 }) == "--concurrency=2")
    #expect(try concurrency(all.merging(["THUMBS_CONFIG": directory.path("own.toml")]) { $1 }) == "--concurrency=3")
    for none in ["", "/dev/null"] { #expect(try concurrency(all.merging(["THUMBS_CONFIG": none]) { $1 }) == nil) }
    #expect(try concurrency(["HOME": directory.path]) == nil && concurrency([:]) == nil)
    let error = #expect(throws: ConfigurationError.self) { try concurrency(["THUMBS_CONFIG": "/nope"]) }
    #expect(error?.description == "/nope: there is no such file.")
  }

  @Test func `The command reads the file in the home directory, and exits with 64 if it has an error`() async throws {
    let fixture = try CommandFixture()
    let folder = fixture.directory.path(".config/thumbs")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = try fixture.directory.write("header = \"X-Key: ${KEY}\"\nsize = 8\n", as: ".config/thumbs/config.toml")
    let arguments = fixture.fetchArguments([fixture.server.url("/a.png")])

    let result = try await fixture.start(arguments, environment: ["KEY": "k"]).result()
    #expect(result.ending == .exit(0), "\(result.errors)")
    #expect(fixture.server.requests.map { $0.fields["x-key"] } == ["k"])
    #expect(ImageFile(try fixture.output("a.png"))?.width == 8)

    let unset = try await fixture.start(arguments).result()
    #expect(unset.ending == .exit(64) && unset.output.isEmpty)
    #expect(unset.errors == "Error: \(folder)/config.toml, line 1: the environment variable KEY is not set.\n")
    #expect(try await fixture.start(["--no-config", "--no-cache"] + arguments.dropFirst()).result().ending == .exit(0))
    #expect(try await fixture.run("--version").ending == .exit(0))
  }
}
