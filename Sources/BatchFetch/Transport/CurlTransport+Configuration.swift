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
    /// than the transfers at once. Default 128. How many lead to one host is the caller's to limit: those that libcurl
    /// held back would use up their deadlines.
    public var maxConnections = 128

    /// The defaults.
    public init() {}

    /// Whether the certificate of `source` is not checked.
    func isInsecure(_ source: SourceURL) -> Bool {
      guard !insecureHosts.isEmpty else { return false }
      let withoutPort = source.host.hasPrefix("[") ? "[\(source.hostName)]" : source.hostName
      return insecureHosts.contains(source.host) || insecureHosts.contains(withoutPort)
    }
  }
}
