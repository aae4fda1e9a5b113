/// The proxies that environment variables name, with the same meaning as in curl.
///
/// libcurl could read the variables itself, but does not report whether a connection leads to a proxy, and the address
/// policy needs to know.
public struct ProxySettings: Hashable, Sendable {
  private var http: String?
  private var https: String?
  private var exceptions: [String]

  /// Reads `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`. All but the first may be in upper case:
  /// `HTTP_PROXY` is ignored, because a CGI server sets it from the `Proxy` field of a client.
  public init(environment: [String: String]) {
    func value(_ names: String...) -> String? { names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } }
    let all = value("all_proxy", "ALL_PROXY")
    http = value("http_proxy") ?? all
    https = value("https_proxy", "HTTPS_PROXY") ?? all
    exceptions = (value("no_proxy", "NO_PROXY") ?? "").split { $0 == "," || $0.isWhitespace }.map { $0.lowercased() }
  }

  /// Settings without any proxy.
  public static let none = ProxySettings(environment: [:])

  /// Returns the proxy for `source`; nil for a direct connection.
  func proxy(for source: SourceURL) -> String? {
    guard let proxy = source.scheme == .https ? https : http, !isExcepted(source.hostName) else { return nil }
    return proxy
  }

  private func isExcepted(_ host: String) -> Bool {
    if exceptions == ["*"] { return true }
    if let address = IPAddress(host) { return exceptions.contains { Self.range($0, contains: address) } }
    return exceptions.contains { exception in
      let domain = exception.drop { $0 == "." }
      return host == domain || host.hasSuffix(".\(domain)")
    }
  }

  /// Returns true if `exception`, an IP address or a range such as `10.0.0.0/8`, contains `address`.
  private static func range(_ exception: String, contains address: IPAddress) -> Bool {
    let parts = exception.split(separator: "/", maxSplits: 1)
    guard let first = parts.first, let prefix = IPAddress(first.filter { $0 != "[" && $0 != "]" }) else { return false }
    let bits = prefix.bytes.count * 8
    guard let length = parts.count == 2 ? Int(parts[1]) : bits, (0...bits).contains(length) else { return false }
    return address.hasPrefix(prefix, length: length)
  }
}
