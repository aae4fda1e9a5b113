internal import Foundation

extension CurlTransport {
  /// The settings of a transport: certificates, credentials, proxies and connections.
  public struct Configuration: Sendable {
    /// Hosts whose certificates are not verified, in the form of ``SourceURL/host``. An entry without a port applies to
    /// every port of the host. Redirects to these hosts are included. Default: none.
    public var insecureHosts: Set<String> = []
    /// The path of a PEM file with certificate authorities to trust instead of the system's. Its content is part of the
    /// cache key. Default nil: the system's.
    public var certificateAuthorities: String?
    /// The path of the PEM file with the certificate authorities of the system, which is no part of the cache key.
    /// Default nil: the authorities that libcurl was built for. On other systems, ``CertificateBundle`` finds the file.
    public var systemAuthorities: String?
    /// The path of a `.netrc` file with credentials per host, for URLs without credentials. Redirects to other hosts
    /// get none of them. As in curl, an entry is for all ports of its host, and is sent over http, too. Default nil: no
    /// file is read.
    public var netrc: String?
    /// The cookies to send. Each is sent only to the hosts and paths that it is for, redirects included. A request
    /// that has a `Cookie` field gets no others. Default nil: none.
    public var cookies: CookieFile?
    /// The proxies. Default: the proxies that the environment of the process names.
    public var proxies = ProxySettings(environment: ProcessInfo.processInfo.environment)
    /// The maximum number of open connections, including those in use; above it, the oldest idle one is closed. Should
    /// be at least the number of concurrent transfers. Default 256, range 1 to 1,000,000; a value outside counts as the
    /// nearest bound.
    ///
    /// There is no limit per host here, because transfers that libcurl holds back would use up their timeouts. The
    /// caller limits them.
    public var maxConnections = 256

    /// Creates a configuration with the defaults.
    public init() {}

    /// Returns true if the certificate of `source` is not verified.
    func isInsecure(_ source: SourceURL) -> Bool { insecureHost(of: source) != nil }

    /// Returns the entry of ``insecureHosts`` that applies to `source`, preferably one without a port; nil if there is
    /// no such entry.
    func insecureHost(of source: SourceURL) -> String? {
      guard !insecureHosts.isEmpty else { return nil }
      let withoutPort = source.host.hasPrefix("[") ? "[\(source.hostName)]" : source.hostName
      return [withoutPort, source.host].first { insecureHosts.contains($0) }
    }

    /// Returns true if a redirect from `source` to `hop` does not lower the trust in the response: the certificate of
    /// `hop` is verified, or the same entry of ``insecureHosts`` applies to both; and `hop` gets no other ``cookies``.
    /// Without TLS there is nothing to verify.
    func trusts(_ hop: SourceURL, as source: SourceURL) -> Bool {
      if let digest = cookies?.digest(for: hop), digest != cookies?.digest(for: source) { return false }
      guard hop.scheme == .https, let host = insecureHost(of: hop) else { return true }
      return host == insecureHost(of: source)
    }
  }
}
