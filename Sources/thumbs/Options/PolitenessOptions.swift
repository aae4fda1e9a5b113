import ArgumentParser
import BatchFetch

/// The options that limit what a run demands of each host.
struct PolitenessOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Maximum rate of requests per host, such as 5/s, 45/m or 100/h. (default: no limit)",
      discussion: "Every request counts: retries, redirects and revalidations, too.", valueName: "rate"),
    transform: { try PolitenessOptions.rate($0) })
  var rate: RequestRate?

  @Option(
    help: ArgumentHelp(
      "JSON file with settings for single hosts and groups of hosts.",
      discussion: """
        An object whose keys are hosts (images.example, images.example:8443), all subdomains of a host \
        (*.cdn.example) or all hosts (*), and whose values are objects with rate ("5/s"), per-host (2), user-agent \
        ("x") and headers ({"Referer": "https://a.example/"}), each optional. The most specific key that has a \
        setting decides. The file takes precedence over --rate, --per-host, --user-agent and --referer, but not over \
        --header and the header fields of a row.
        """,
      valueName: "file"),
    completion: .file(extensions: ["json"]), transform: { try PolitenessOptions.path($0) })
  var hosts: String?

  @Option(
    help: ArgumentHelp(
      "Maximum time to wait for a host that requests a pause with Retry-After; 0 never waits. "
        + "(default: 120s)",
      discussion: "If a host requests a longer pause, its rows fail, and are worth retrying.", valueName: "time"),
    transform: { try Count.seconds($0, in: 0...86_400) })
  var maxWait = Duration.seconds(120)

  @Flag(
    help: ArgumentHelp(
      "Obey robots.txt and the X-Robots-Tag header; both are ignored by default.",
      discussion: """
        Images that a host disallows fail with blocked_robots. An image that is fresh in the cache is used without a \
        request to its host, even if it was stored by a run without this option.
        """))
  var robots = false

  @Flag(
    help: ArgumentHelp(
      "Try every row of a host that cannot be reached.",
      discussion: """
        By default, after 5 failures in a row to connect to a host or to look up its name, its rows fail with \
        host_unavailable.
        """))
  var noHostBreaker = false

  /// Changes the settings of the downloader. Those of ``hosts`` are in a file, and not included.
  func apply(to configuration: inout Downloader.Configuration) {
    configuration.rate = rate
    configuration.retry.maxWait = maxWait
    configuration.robots = robots ? .obeyed : .ignored
    if noHostBreaker { configuration.maxHostFailures = nil }
  }

  /// Reads the file of `--hosts`; no rules without that option.
  ///
  /// - Throws: A `ValidationError` if the file cannot be read or has an error.
  func hostRules() throws -> HostRules { try hosts.map { try HostsFile.rules(path: $0) } ?? HostRules() }

  /// Parses a rate; used for the file of `--hosts`, too.
  static func rate(_ text: String) throws -> RequestRate {
    guard let rate = RequestRate(text) else {
      throw ValidationError(
        "give 0.001 to 1000000 requests per second, minute or hour, such as 5/s, 45/m, 100/h or 0.5/s")
    }
    return rate
  }

  private static func path(_ text: String) throws -> String {
    if text == "-" { throw ValidationError("give a file name, such as /dev/stdin for standard input") }
    return text
  }
}

/// The limits of a whole run.
struct RunLimitOptions: ParsableArguments {
  @Option(
    name: .customLong("max-run-time"),
    help: ArgumentHelp(
      "Maximum time for the whole run. (default: no limit)",
      discussion: "The rows that are left then end as canceled, and the exit status is 75.", valueName: "time"),
    transform: { try Count.seconds($0, in: 0.001...31_536_000) })
  var time: Duration?

  @Option(
    name: .customLong("max-run-bytes"),
    help: ArgumentHelp(
      "Maximum size of all downloads together, such as 2GiB. (default: no limit)",
      discussion: """
        A download counts when it is complete, so those in progress may exceed the limit. The rows that are left \
        then end as canceled, and the exit status is 75.
        """,
      valueName: "size"),
    transform: { try RunLimitOptions.size($0) })
  var bytes: ByteSize?

  /// The limits.
  var limits: RunLimits { RunLimits(time: time, bytes: bytes) }

  private static func size(_ text: String) throws -> ByteSize {
    let size = try ByteSize(text)
    guard size.count > 0 else { throw ValidationError("give at least 1 byte, such as 500k, 32MiB or 2GiB") }
    return size
  }
}
