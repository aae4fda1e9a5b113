import ArgumentParser
import BatchFetch
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
