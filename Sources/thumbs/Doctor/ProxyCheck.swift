import Foundation

/// Checks the proxies that environment variables name.
struct ProxyCheck: DoctorCheck {
  private static let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
  private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

  var environment: [String: String]

  var findings: [Finding] {
    let named = Self.names.compactMap { name in value(name).map { (name, $0) } }
    let all = ignored + named.map { finding($0, $1) } + exceptions
    return all.isEmpty ? [.ok("proxies", "none")] : all
  }

  private func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }

  private func finding(_ name: String, _ proxy: String) -> Finding {
    let shown = Self.redacted(proxy)
    guard let flaw = Self.flaw(of: proxy) else { return .ok("proxies", "\(name)=\(shown)", [name: shown]) }
    return .problem(
      "proxies", "\(name)=\(shown): \(flaw).",
      remedy: "Set \(name) to a URL such as http://proxy.example:3128, or unset it.", [name: shown])
  }

  /// Only `http_proxy` counts: a CGI server sets the other one from a field of the client's request.
  private var ignored: [Finding] {
    guard let proxy = value("HTTP_PROXY"), value("http_proxy") == nil else { return [] }
    let shown = Self.redacted(proxy)
    return [
      .warning(
        "proxies", "HTTP_PROXY=\(shown) is ignored, as in curl.", remedy: "Set http_proxy instead.",
        ["HTTP_PROXY": shown])
    ]
  }

  private var exceptions: [Finding] {
    ["no_proxy", "NO_PROXY"].compactMap { name in value(name).map { .ok("proxies", "\(name)=\($0)", [name: $0]) } }
      .prefix(1).map { $0 }
  }

  /// Returns what is wrong with the URL of a proxy; nil if nothing is. A URL without a scheme means http, as in curl.
  private static func flaw(of proxy: String) -> String? {
    let text = proxy.contains("://") ? proxy : "http://\(proxy)"
    guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased() else {
      return "not a URL"
    }
    if !schemes.contains(scheme) { return "the scheme \(scheme) is unknown" }
    guard let host = parts.host, !host.isEmpty else { return "the host is missing" }
    if let port = parts.port, !(1...65535).contains(port) { return "the port is out of range" }
    return nil
  }

  /// Hides everything that may be a user or a password.
  private static func redacted(_ proxy: String) -> String {
    proxy.contains("://") ? Redaction.url(proxy) : Redaction.url("http://\(proxy)").replacing("http://", with: "")
  }
}
