internal import Foundation

extension CurlTransport {
  /// The settings of a transport: certificates, credentials, proxies and connections.
  public struct Configuration: Sendable {
    /// Hosts whose certificates are not verified, in the form of ``SourceURL/host``. An entry without a port applies to
    /// every port of the host. Redirects to these hosts are included. Default: none.
    public var insecureHosts: Set<String> = []
    /// The path of a PEM file with certificate authorities to trust instead of libcurl's. Default nil: libcurl's. On
    /// systems that libcurl was not built for, ``CertificateBundle`` finds the file.
    public var certificateAuthorities: String?
    /// The path of a `.netrc` file with credentials per host, for URLs without credentials. Redirects to other hosts
    /// get none of them. Default nil: no file is read.
    public var netrc: String?
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
    /// `hop` is verified, or the same entry of ``insecureHosts`` applies to both. Without TLS there is nothing to
    /// verify.
    func trusts(_ hop: SourceURL, as source: SourceURL) -> Bool {
      guard hop.scheme == .https, let host = insecureHost(of: hop) else { return true }
      return host == insecureHost(of: source)
    }
  }
}
