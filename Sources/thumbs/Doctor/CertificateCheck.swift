import Glibc

/// Checks whether the certificate authorities that https needs are installed.
struct CertificateCheck: DoctorCheck {
  /// The PEM file of libcurl; nil if its build has none.
  var file: String?
  /// The directory of certificates of libcurl; nil if its build has none.
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
          remedy: "Install the package ca-certificates.", values)
      ]
    }
    return [.ok("certificates", first, values)]
  }
}
