import ArgumentParser
import BatchFetch
import HTTPTypes

/// How pictures are downloaded.
struct NetworkOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Transfers at once. (default: 16)", valueName: "n"), transform: { try Count.positive($0) })
  var concurrency = 16

  @Option(
    help: ArgumentHelp("Downloads at once from one host. (default: 6)", valueName: "n"),
    transform: { try Count.positive($0) })
  var perHost = 6

  @Option(
    help: ArgumentHelp("Attempts after a failed one that is worth retrying. (default: 3)", valueName: "n"),
    transform: { try Count.natural($0) })
  var retries = 3

  @Option(
    help: ArgumentHelp("Seconds for a connection to be made. (default: 5)", valueName: "seconds"),
    transform: { try Count.seconds($0) })
  var connectTimeout = Duration.seconds(5)

  @Option(
    help: ArgumentHelp(
      "Seconds for one attempt as a whole, a quarter of them for its first byte. (default: 60)", valueName: "seconds"),
    transform: { try Count.seconds($0) })
  var timeout = Duration.seconds(60)

  @Option(
    help: ArgumentHelp("The largest download, such as 500k. (default: 32MiB)", valueName: "size"),
    transform: { try ByteSize($0) })
  var maxBytes = ByteSize(count: 32 << 20)

  @Option(
    help: ArgumentHelp("Redirects to follow. (default: 5)", valueName: "n"), transform: { try Count.natural($0) })
  var maxRedirects = 5

  @Flag(help: "Connect to addresses of the public Internet only.")
  var publicOnly = false

  @Flag(help: "Read file: addresses too.")
  var allowFile = false

  @Option(
    name: .customLong("header"),
    help: ArgumentHelp(
      "A field for every request, such as 'Authorization: Bearer x'. Redirects to another host do not get it.",
      discussion: """
        A Host field is sent as it is, over a connection to the host of the address. Fields about lengths, connections, \
        ranges and conditions are refused.
        """,
      valueName: "name: value"),
    transform: { try HeaderOption($0) })
  var headers: [HeaderOption] = []

  @Option(
    help: ArgumentHelp("What the requests say they come from. (default: thumbs/VERSION)", valueName: "text"),
    transform: { try HeaderOption.value($0) })
  var userAgent: String?

  @Option(
    help: ArgumentHelp("The page that the pictures are said to be on.", valueName: "url"),
    transform: { try HeaderOption.value($0) })
  var referer: String?

  @Option(
    name: .customLong("insecure-host"),
    help: ArgumentHelp("A host, or host:port, whose certificate is not checked. Repeatable.", valueName: "host"),
    transform: { try HostOption($0) })
  var insecureHosts: [HostOption] = []

  @Flag(help: "Use the credentials in ~/.netrc for addresses that hold none.")
  var netrc = false

  /// What the downloader is told.
  var configuration: Downloader.Configuration {
    var configuration = Downloader.Configuration()
    configuration.concurrency = concurrency
    configuration.perHost = perHost
    configuration.retry = RetryPolicy(limit: retries)
    configuration.limits.connect = connectTimeout
    configuration.limits.total = timeout
    configuration.limits.firstByte = timeout / 4
    configuration.limits.maxBytes = maxBytes.count
    configuration.limits.maxRedirects = maxRedirects
    configuration.limits.addresses = publicOnly ? .publicOnly : .noLinkLocal
    if let userAgent { configuration.headerFields[.userAgent] = userAgent.isEmpty ? nil : userAgent }
    if let referer { configuration.headerFields[.referer] = referer }
    return configuration
  }

  /// What the transport is told.
  ///
  /// - Parameter home: the user's own directory.
  func transportConfiguration(home: String) -> CurlTransport.Configuration {
    var configuration = CurlTransport.Configuration()
    configuration.insecureHosts = Set(insecureHosts.map(\.host))
    configuration.netrc = netrc ? "\(home)/.netrc" : nil
    configuration.maxConnections = max(configuration.maxConnections, 2 * concurrency)
    return configuration
  }

  /// Whether local files are read.
  var fileAccess: ThumbnailPipeline.FileAccess { allowFile ? .allowed : .refused }

  /// The fields of every request.
  var headerFields: HTTPFields {
    var fields = HTTPFields()
    for header in headers {
      guard let name = HTTPField.Name(header.name) else { continue }
      fields.append(HTTPField(name: name, value: header.value))
    }
    return fields
  }
}
