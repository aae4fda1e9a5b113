import ArgumentParser
import BatchFetch
import HTTPTypes

/// The options of downloads.
struct NetworkOptions: ParsableArguments {
  @Option(
    name: [.customShort("j", allowingJoined: true), .customLong("concurrency")],
    help: ArgumentHelp("Maximum number of transfers at once. (default: 16)", valueName: "n"),
    transform: { try Count.positive($0) })
  var concurrency = 16

  @Option(
    help: ArgumentHelp("Maximum number of downloads at once per host. (default: 6)", valueName: "n"),
    transform: { try Count.positive($0) })
  var perHost = 6

  @Option(
    name: [.customLong("retries"), .customLong("retry")],
    help: ArgumentHelp("Maximum number of retries after transient failures. (default: 3)", valueName: "n"),
    transform: { try Count.natural($0) })
  var retries = 3

  @Option(
    help: ArgumentHelp("Maximum time to connect, in seconds. (default: 5)", valueName: "seconds"),
    transform: { try Count.seconds($0) })
  var connectTimeout = Duration.seconds(5)

  @Option(
    name: [.customLong("max-time"), .customLong("timeout")],
    help: ArgumentHelp("Maximum time for one attempt, in seconds. (default: 60)", valueName: "seconds"),
    transform: { try Count.seconds($0) })
  var timeout = Duration.seconds(60)

  @Option(
    help: ArgumentHelp(
      "Maximum time to the first byte of a response, in seconds. (default: a quarter of --max-time)",
      valueName: "seconds"),
    transform: { try Count.seconds($0) })
  var firstByteTimeout: Duration?

  @Option(
    name: [.customLong("max-bytes"), .customLong("max-filesize")],
    help: ArgumentHelp("Maximum size of a download, such as 500k. (default: 32MiB)", valueName: "size"),
    transform: { try ByteSize($0) })
  var maxBytes = ByteSize(count: 32 << 20)

  @Option(
    name: [.customLong("max-redirects"), .customLong("max-redirs")],
    help: ArgumentHelp("Maximum number of redirects to follow. (default: 5)", valueName: "n"),
    transform: { try Count.natural($0) })
  var maxRedirects = 5

  @Flag(help: "Connect to public IP addresses only.")
  var publicOnly = false

  @Flag(help: "Allow file: URLs.")
  var allowFile = false

  @Option(
    name: [.customShort("H", allowingJoined: true), .customLong("header")],
    help: ArgumentHelp(
      "Header field to send with every request, such as 'Authorization: Bearer x'. Repeatable.",
      discussion: """
        Not sent after a redirect to another host. Host is sent as given, over a connection to the host of the URL. \
        Fields that control message framing, connections, ranges or conditions are rejected.
        """,
      valueName: "name: value"),
    transform: { try HeaderOption($0) })
  var headers: [HeaderOption] = []

  @Option(
    name: [.customShort("A", allowingJoined: true), .customLong("user-agent")],
    help: ArgumentHelp("User-Agent header to send; none if empty. (default: thumbs/VERSION)", valueName: "text"),
    transform: { try HeaderOption.value($0) })
  var userAgent: String?

  @Option(
    name: [.customShort("e", allowingJoined: true), .customLong("referer")],
    help: ArgumentHelp("Referer header to send.", valueName: "url"),
    transform: { try HeaderOption.value($0) })
  var referer: String?

  @Option(
    name: .customLong("insecure-host"),
    help: ArgumentHelp(
      "Host, or host:port, to connect to without verifying its certificate. Repeatable.", valueName: "host"),
    transform: { try HostOption($0) })
  var insecureHosts: [HostOption] = []

  @Flag(help: "Read credentials from ~/.netrc for URLs without any.")
  var netrc = false

  /// The configuration of the downloader.
  var configuration: Downloader.Configuration {
    var configuration = Downloader.Configuration()
    configuration.concurrency = concurrency
    configuration.perHost = perHost
    configuration.retry = RetryPolicy(limit: retries)
    configuration.limits.connect = connectTimeout
    configuration.limits.total = timeout
    configuration.limits.firstByte = firstByteTimeout ?? timeout / 4
    configuration.limits.maxBytes = maxBytes.count
    configuration.limits.maxRedirects = maxRedirects
    configuration.limits.addresses = publicOnly ? .publicOnly : .noLinkLocal
    if let userAgent { configuration.headerFields[.userAgent] = userAgent.isEmpty ? nil : userAgent }
    if let referer { configuration.headerFields[.referer] = referer }
    return configuration
  }

  /// Returns the configuration of the transport.
  ///
  /// - Parameter home: The user's home directory, for `.netrc`.
  func transportConfiguration(home: String) -> CurlTransport.Configuration {
    var configuration = CurlTransport.Configuration()
    configuration.insecureHosts = Set(insecureHosts.map(\.host))
    configuration.netrc = netrc ? "\(home)/.netrc" : nil
    configuration.maxConnections = max(configuration.maxConnections, 2 * concurrency)
    return configuration
  }

  /// The permission to read local files.
  var fileAccess: ThumbnailPipeline.FileAccess { allowFile ? .allowed : .refused }

  /// The `--header` fields, sent with every request.
  var headerFields: HTTPFields {
    var fields = HTTPFields()
    for header in headers {
      guard let name = HTTPField.Name(header.name) else { continue }
      fields.append(HTTPField(name: name, value: header.value))
    }
    return fields
  }
}
