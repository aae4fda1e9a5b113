import ArgumentParser
import BatchFetch
import Foundation
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
    help: ArgumentHelp("Maximum time to connect. (default: 5s)", valueName: "time"),
    transform: { try Count.seconds($0) })
  var connectTimeout = Duration.seconds(5)

  @Option(
    name: [.customLong("max-time"), .customLong("timeout")],
    help: ArgumentHelp("Maximum time for one attempt. (default: 60s)", valueName: "time"),
    transform: { try Count.seconds($0) })
  var timeout = Duration.seconds(60)

  @Option(
    help: ArgumentHelp(
      "Maximum time to the first byte of a response. (default: a quarter of --max-time)",
      valueName: "time"),
    transform: { try Count.seconds($0) })
  var firstByteTimeout: Duration?

  @Option(
    name: [.customLong("max-bytes"), .customLong("max-filesize")],
    help: ArgumentHelp("Maximum size of a download, such as 500k. (default: 32MiB)", valueName: "size"),
    transform: { try ByteSize($0) })
  var maxBytes = ByteSize(count: 32 << 20)

  @Option(
    name: [.customLong("max-redirects"), .customLong("max-redirs")],
    help: ArgumentHelp("Maximum number of redirects to follow, up to 100. (default: 20)", valueName: "n"),
    transform: { try Count.natural($0) })
  var maxRedirects = 20

  @Flag(help: "Connect to public IP addresses only.")
  var publicOnly = false

  @Flag(help: "Allow file: URLs.")
  var allowFile = false

  @Option(
    help: ArgumentHelp(
      "Server of s3:// URLs, such as http://127.0.0.1:9000. (default: that of AWS_ENDPOINT_URL, or Amazon S3)",
      discussion: """
        The key is in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or in the profile AWS_PROFILE of the files of AWS; \
        without one, requests are not signed. gs:// URLs take an HMAC key from GS_ACCESS_KEY_ID and \
        GS_SECRET_ACCESS_KEY. A URL that ends with a slash stands for the images below it.
        """,
      valueName: "url"),
    transform: { try NetworkOptions.endpoint($0) })
  var s3Endpoint: String?

  @Option(
    name: [.customShort("H", allowingJoined: true), .customLong("header")],
    help: ArgumentHelp(
      "Header field to send with every request, such as 'Accept: image/png'; @FILE reads fields from a file. "
        + "Repeatable.",
      discussion: """
        A file has a field per line; empty lines and lines that begin with # are skipped. \
        Not sent after a redirect to another host. Host is sent as given, over a connection to the host of the URL. \
        Fields that control message framing, connections, ranges or conditions are rejected.
        """,
      valueName: "name: value"),
    transform: { try HeaderArgument($0) })
  var headers: [HeaderArgument] = []

  /// The header fields of the configuration file. The parser gets them under this name, so that those of the command
  /// line replace them one by one.
  @Option(
    name: .customLong(HeaderArgument.configuredOption), help: .private, transform: { try HeaderArgument($0) })
  var configuredHeaders: [HeaderArgument] = []

  @Option(
    help: ArgumentHelp(
      "Header field whose value is in an environment variable, such as Authorization=API_TOKEN. Repeatable.",
      valueName: "name=variable"),
    transform: { try HeaderVariable($0) })
  var headerEnv: [HeaderVariable] = []

  @Option(
    help: ArgumentHelp(
      "File with cookies to send, in the Netscape format.",
      discussion: """
        Each cookie is sent only to its host and path, on redirects too, and secure ones only over https. Cookies of \
        responses are not stored.
        """,
      valueName: "file"),
    completion: .file())
  var cookieFile: String?

  @Option(
    name: .customLong("cacert"),
    help: ArgumentHelp(
      "PEM file with the certificate authorities to trust instead of those of the system.", valueName: "file"),
    completion: .file(extensions: ["pem", "crt"]))
  var certificateAuthorities: String?

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

  @Flag(help: "Read credentials from ~/.netrc for URLs without any; as in curl, for all ports, and over http, too.")
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

  /// Returns the configuration of the connections, to hosts of images as well as to a remote cache. It has no cookies,
  /// which are for hosts of images only.
  ///
  /// - Parameter environment: The environment variables of the process, for the paths of `.netrc` and of the
  ///   certificate authorities.
  func transportConfiguration(environment: [String: String]) -> CurlTransport.Configuration {
    var configuration = CurlTransport.Configuration()
    configuration.insecureHosts = Set(insecureHosts.map(\.host))
    configuration.certificateAuthorities = certificateAuthorities
    configuration.systemAuthorities = CertificateBundle.find(environment: environment)
    configuration.netrc = netrcPath(environment)
    configuration.maxConnections = max(configuration.maxConnections, 2 * concurrency)
    return configuration
  }

  /// Returns the access to buckets.
  func buckets(environment: [String: String]) -> BucketAccess {
    BucketAccess(environment: environment, s3Endpoint: s3Endpoint)
  }

  private static func endpoint(_ text: String) throws -> String {
    do throws(FetchFailure) {
      _ = try BucketAccess.Store(endpoint: text).server(of: .s3, region: "us-east-1")
      return text
    } catch {
      throw ValidationError(error.message)
    }
  }

  /// Returns the path of the file that `--netrc` reads, in the home directory; nil without that option.
  func netrcPath(_ environment: [String: String]) -> String? {
    netrc ? "\(environment["HOME"] ?? NSHomeDirectory())/.netrc" : nil
  }

  /// The permission to read local files.
  var fileAccess: FileAccess { allowFile ? .allowed : .refused }
}
