import ArgumentParser
import BatchFetch
import ImageCache
import Testing

@testable import thumbs

/// The names and forms of options that users of similar programs know.
@Suite struct OptionNameTests {
  @Test(arguments: [
    (["-j", "8"], ["--concurrency", "8"]), (["-j8"], ["--concurrency", "8"]), (["--retry", "4"], ["--retries", "4"]),
    (["--timeout", "8"], ["--max-time", "8"]), (["--max-filesize", "5k"], ["--max-bytes", "5k"]),
    (["--max-redirs", "2"], ["--max-redirects", "2"]), (["-H", "A: b"], ["--header", "A: b"]),
    (["-HA: b"], ["--header", "A: b"]), (["-A", "x"], ["--user-agent", "x"]), (["-Ax"], ["--user-agent", "x"]),
    (["-e", "x"], ["--referer", "x"]), (["-ex"], ["--referer", "x"]), (["-s", "64"], ["--size", "64"]),
    (["-s64"], ["--size", "64"]), (["-s64,128"], ["--size", "64", "--size", "128"]),
    (["--size", "64, 64@2x"], ["--size", "64", "--size", "64@2x"]), (["--sizes", "8"], ["--size", "8"]),
    (["--fit", "contain"], ["--fit", "pad"]), (["--fit", "fill"], ["--fit", "stretch"]),
    (["--filter", "box"], ["--kernel", "box"]), (["--output-dir", "x"], ["-o", "x"]), (["-ox"], ["-o", "x"]),
    (["--output", "x"], ["-o", "x"]), (["--name", "{stem}.{ext}"], ["--name-template", "{stem}.{ext}"]),
    (["--url-key", "x"], ["--url-column", "x"]), (["-n"], ["--dry-run"]), (["-nq"], ["--dry-run", "--quiet"]),
    (["-i", "x"], ["--input-file", "x"]), (["-ix"], ["--input-file", "x"]), (["-i", "-"], ["--input-file", "-"]),
  ])
  func `Short forms and aliases have the effect of the full name`(short: [String], full: [String]) throws {
    let (first, second) = (try Settings(short), try Settings(full))

    #expect(first == second)
    #expect(try first != Self.defaults.get())
  }

  @Test func `The time to the first byte is a quarter of the whole time unless it is given`() throws {
    #expect(try NetworkOptions.parse(["--max-time", "80"]).configuration.limits.firstByte == .seconds(20))

    let limits = try NetworkOptions.parse(["--max-time", "80", "--first-byte-timeout", "7.5"]).configuration.limits
    #expect(limits.firstByte == .seconds(7.5) && limits.total == .seconds(80))
  }

  @Test(arguments: [
    ("x/%s.jpg", "-o x --name-template '{stem}.{ext}' --format jpeg"),
    ("%s_small.PNG[strip]", "-o . --name-template '{stem}_small.{ext}' --format png"),
    ("/%04d", "-o / --name-template '{index}.{ext}'"),
    ("a/b/tn_%s.v2.gif", "-o a/b --name-template 'tn_{stem}.v2.{ext}' --format gif"),
  ])
  func `A file name pattern as the output directory is refused with the options to use`(
    output: String, options: String
  ) throws {
    let message = usageError { _ = try OutputOptions.parse(["-o", output]) }

    #expect(message == "--output is a directory, not a pattern. Use: \(options)")
    #expect(throws: Never.self) { try OutputOptions.parse(["-o", "100%"]) }
  }

  private static let defaults = Result { try Settings([]) }

  /// All settings of a `fetch` command that options set.
  private struct Settings: Equatable {
    let inputs: [ManifestInput]
    let keys: ManifestKeys
    let specs: [ThumbnailSpec]
    let texts: [String]
    let limits: TransferLimits
    let numbers: [Int]

    init(_ arguments: [String]) throws {
      let command = try #require(try Thumbs.parseAsRoot(["fetch", "list"] + arguments) as? FetchCommand)
      let downloads = command.network.configuration
      inputs = try command.manifest.inputs(format: command.columns.format) { _ in true }
      keys = command.columns.keys
      specs = command.pixels.specs
      texts = [
        command.output.directory ?? "", command.naming.pattern?.description ?? "", "\(command.dryRun)",
        "\(command.output.quiet)", "\(downloads.headerFields)", "\(command.network.headers)",
      ]
      limits = downloads.limits
      numbers = [downloads.concurrency, downloads.retry.limit]
    }
  }
}
