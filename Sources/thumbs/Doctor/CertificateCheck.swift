import BatchFetch
import Glibc

/// Checks whether the certificate authorities that https needs are installed.
struct CertificateCheck: DoctorCheck {
  /// What names the file.
  enum Origin: Hashable, Sendable {
    /// The system, or else libcurl.
    case system
    /// `cacert` in the configuration file.
    case setting
  }

  /// The PEM file that a run trusts: the one of the system, or else that of libcurl; nil if there is none.
  var file: String?
  /// The directory of certificates of libcurl; nil if the file is that of the system, or if there is no directory.
  var directory: String?
  var origin = Origin.system
  /// Returns true if a file or directory can be read.
  var isReadable: @Sendable (String) -> Bool = { access($0, R_OK) == 0 }

  var findings: [Finding] {
    let values = ["file": file, "directory": directory].compactMapValues { $0 }
    let found = [file, directory].compactMap { $0 }.filter(isReadable)
    if let first = found.first { return [.ok("certificates", first, values)] }
    return [.problem("certificates", flaw, remedy: remedy, values)]
  }

  private var flaw: String {
    let tried = [file, directory].compactMap { $0 }.joined(separator: " or ")
    return switch origin {
    case .system: "No certificate authorities\(tried.isEmpty ? "" : " at \(tried)"), so https fails."
    case .setting: "cacert in the configuration file names \(tried), which has no certificates, so no run starts."
    }
  }

  private var remedy: String {
    switch origin {
    case .system: "Install the package ca-certificates, or name a file of certificate authorities in SSL_CERT_FILE."
    case .setting: "Set cacert to a PEM file of certificate authorities, or remove it."
    }
  }
}

extension CertificateCheck {
  /// Creates the check of the authorities that a run trusts: those of `configured`, the path that the configuration file
  /// sets, or else those of the system.
  init(configured: String?, environment: [String: String]) {
    if let configured {
      self.init(file: configured, origin: .setting) { (try? Credentials.checkAuthorities(path: $0)) != nil }
    } else if let file = CertificateBundle.find(environment: environment) {
      self.init(file: file)
    } else {
      let (file, directory) = CurlTransport.standardAuthorities
      self.init(file: file, directory: directory)
    }
  }
}
