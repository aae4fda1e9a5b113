/// Which proxy is asked for an address: the environment's words, in the meaning that curl gives them.
///
/// libcurl would read them itself, but does not tell whether a connection leads to a proxy. The address policy needs to
/// know.
public struct ProxySettings: Hashable, Sendable {
  private var http: String?
  private var https: String?
  private var exceptions: [String]

  /// The settings of `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, each also in upper case but the first:
  /// a web server sets `HTTP_PROXY` from a client's `Proxy:` field.
  public init(environment: [String: String]) {
    func value(_ names: String...) -> String? { names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } }
    let all = value("all_proxy", "ALL_PROXY")
    http = value("http_proxy") ?? all
    https = value("https_proxy", "HTTPS_PROXY") ?? all
    exceptions = (value("no_proxy", "NO_PROXY") ?? "").split { $0 == "," || $0.isWhitespace }.map { $0.lowercased() }
  }

  /// No proxy at all.
  public static let none = ProxySettings(environment: [:])

  /// The proxy to ask for `source`; nil where its host is asked directly.
  func proxy(for source: SourceURL) -> String? {
    guard let proxy = source.scheme == .https ? https : http, !isExcepted(source.hostName) else { return nil }
    return proxy
  }

  private func isExcepted(_ host: String) -> Bool {
    if exceptions == ["*"] { return true }
    if let address = IPAddress(host) { return exceptions.contains { Self.range($0, holds: address) } }
    return exceptions.contains { exception in
      let domain = exception.drop { $0 == "." }
      return host == domain || host.hasSuffix(".\(domain)")
    }
  }

  /// `exception` is an address, or a range such as `10.0.0.0/8`.
  private static func range(_ exception: String, holds address: IPAddress) -> Bool {
    let parts = exception.split(separator: "/", maxSplits: 1)
    guard let first = parts.first, let prefix = IPAddress(first.filter { $0 != "[" && $0 != "]" }) else { return false }
    let bits = prefix.bytes.count * 8
    guard let length = parts.count == 2 ? Int(parts[1]) : bits, (0...bits).contains(length) else { return false }
    return address.hasPrefix(prefix, length: length)
  }
}
