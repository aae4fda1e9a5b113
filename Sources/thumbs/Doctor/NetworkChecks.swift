import ArgumentParser
import BatchFetch
import Foundation
import Glibc

/// Checks whether the certificate authorities that https needs are installed.
struct CertificateCheck: DoctorCheck {
  /// The origin of the file.
  enum Origin: Hashable, Sendable {
    /// The system, or else libcurl.
    case system
    /// The environment variable of this name.
    case variable(String)
    /// `cacert` in the configuration file. `flaw` is the reason why no run can use its file; nil if a run can.
    case setting(flaw: String?)
  }

  /// The PEM file that a run trusts; nil if there is none.
  var file: String?
  /// The directory of certificates of libcurl; nil if the file has another origin, or if there is no directory.
  var directory: String?
  /// The origin of the file. Default: the system.
  var origin = Origin.system
  /// Returns true if a file or directory can be read.
  var isReadable: @Sendable (String) -> Bool = { access($0, R_OK) == 0 }

  var findings: [Finding] {
    var values = ["file": file, "directory": directory].compactMapValues { $0 }
    if case .variable(let name) = origin { values["variable"] = name }
    let found = [file, directory].compactMap { $0 }.filter(isReadable)
    if let first = found.first { return [.ok("certificates", first, values)] }
    return [.problem("certificates", flaw, remedy: remedy, values)]
  }

  private var flaw: String {
    let tried = [file, directory].compactMap { $0 }.joined(separator: " or ")
    return switch origin {
    case .system: "No certificate authorities\(tried.isEmpty ? "" : " at \(tried)"), so https fails."
    case .variable(let name): "\(name) names \(tried), which cannot be read, so https fails."
    case .setting(let flaw): "cacert in the configuration file cannot be used, so no run starts: \(flaw ?? tried)."
    }
  }

  private var remedy: String {
    switch origin {
    case .system: "Install the package ca-certificates, or name a file of certificate authorities in SSL_CERT_FILE."
    case .variable(let name): "Set \(name) to a PEM file of certificate authorities, or unset it."
    case .setting: "Set cacert to a PEM file of certificate authorities, or remove it."
    }
  }
}

extension CertificateCheck {
  /// Creates the check of the authorities that a run trusts: those of `configured`, the path in the configuration file,
  /// or else those of the system.
  init(configured: String?, environment: [String: String]) {
    if let configured {
      let flaw = Self.flaw(of: configured)
      self.init(file: configured, origin: .setting(flaw: flaw)) { _ in flaw == nil }
    } else if let file = CertificateBundle.find(environment: environment) {
      let variable = CertificateBundle.variable(environment: environment)
      self.init(file: file, origin: variable.map { .variable($0) } ?? .system)
    } else {
      let (file, directory) = CurlTransport.standardAuthorities
      self.init(file: file, directory: directory)
    }
  }

  /// Returns the reason why a run rejects the file at `path`, without a period at the end; nil if it accepts the file.
  private static func flaw(of path: String) -> String? {
    do {
      try Credentials.checkAuthorities(path: path)
      return nil
    } catch {
      let message = (error as? ValidationError)?.message ?? "\(error)"
      return message.replacing(#/^--cacert |\.$/#, with: "")
    }
  }
}

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
