internal import Foundation

extension CurlTransport {
  /// Whom the transport trusts, and what it keeps.
  public struct Configuration: Sendable {
    /// Hosts whose certificates are not checked, written as ``SourceURL/host`` is; without a port, every port of the
    /// host. Holds for redirects to them too, and for no other host. Default: none.
    public var insecureHosts: Set<String> = []
    /// A file of certificates (PEM) that are trusted in place of the system's. Default nil: the system's.
    public var certificateAuthorities: String?
    /// A file in the format of `.netrc` with credentials by host, for addresses that hold none. A redirect to another
    /// host gets none of them. Default nil: no file is read.
    public var netrc: String?
    /// Which proxies are used. Default: those of the process's environment.
    public var proxies = ProxySettings(environment: ProcessInfo.processInfo.environment)
    /// Connections that are kept, those in use included; beyond, the oldest idle one is closed. Should not be less
    /// than the transfers at once. 1...1,000,000; what is outside counts as the nearest end. Default 128. How many lead to one host is the caller's to limit: those that libcurl
    /// held back would use up their deadlines.
    public var maxConnections = 128

    /// The defaults.
    public init() {}

    /// Whether the certificate of `source` is not checked.
    func isInsecure(_ source: SourceURL) -> Bool { insecureHost(of: source) != nil }

    /// The one of ``insecureHosts`` that is about `source`, the one without a port before another; nil for none.
    func insecureHost(of source: SourceURL) -> String? {
      guard !insecureHosts.isEmpty else { return nil }
      let withoutPort = source.host.hasPrefix("[") ? "[\(source.hostName)]" : source.hostName
      return [withoutPort, source.host].first { insecureHosts.contains($0) }
    }

    /// Whether `hop` is verified as `source` is, which a redirect led from: both are, or one entry of ``insecureHosts`` is
    /// about both. Nothing is verified without TLS, whatever the entries say.
    func trusts(_ hop: SourceURL, as source: SourceURL) -> Bool {
      guard hop.scheme == .https, let host = insecureHost(of: hop) else { return true }
      return host == insecureHost(of: source)
    }
  }
}
