import Glibc

/// Checks whether the certificate authorities that https needs are installed.
struct CertificateCheck: DoctorCheck {
  /// The PEM file that a run trusts: the one of the system, or else that of libcurl; nil if there is none.
  var file: String?
  /// The directory of certificates of libcurl; nil if the file is that of the system, or if there is no directory.
  var directory: String?
  /// Returns true if a file or directory can be read.
  var isReadable: @Sendable (String) -> Bool = { access($0, R_OK) == 0 }

  var findings: [Finding] {
    let values = ["file": file, "directory": directory].compactMapValues { $0 }
    let found = [file, directory].compactMap { $0 }.filter(isReadable)
    guard let first = found.first else {
      let tried = [file, directory].compactMap { $0 }.joined(separator: " or ")
      return [
        .problem(
          "certificates", "No certificate authorities\(tried.isEmpty ? "" : " at \(tried)"), so https fails.",
          remedy: "Install the package ca-certificates, or name a file of certificate authorities in SSL_CERT_FILE.",
          values)
      ]
    }
    return [.ok("certificates", first, values)]
  }
}
