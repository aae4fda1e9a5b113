internal import Glibc

/// The PEM file with the certificate authorities that this system trusts.
///
/// Each libcurl knows the file of the distribution that it was built for. A program that runs on other distributions
/// finds theirs with ``find(environment:root:)``:
///
/// ```swift
/// configuration.systemAuthorities = CertificateBundle.find(environment: environment)
/// ```
public enum CertificateBundle {
  /// The environment variables that name the file, in order of precedence: those of curl, OpenSSL and Nix.
  static let variables = ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "NIX_SSL_CERT_FILE"]

  /// The paths of the file on distributions, in order of precedence.
  static let paths = [
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Alpine, Arch, NixOS
    "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora up to 42, RHEL
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",  // openSUSE
    "/etc/ssl/cert.pem",  // Alpine without ca-certificates
    "/etc/ssl/certs/ca-bundle.crt",  // Nix on other distributions
    "/nix/var/nix/profiles/default/etc/ssl/certs/ca-bundle.crt",
  ]

  /// Returns the path of the file; nil if no variable names it and it is at none of the known paths.
  ///
  /// A file that a variable names counts even if it does not exist: a user who limits the trusted authorities must not
  /// get more of them because of a misspelled name.
  ///
  /// - Parameters:
  ///   - environment: The environment variables of the process.
  ///   - root: The directory that the known paths are below. Default: the root directory.
  public static func find(environment: [String: String], root: String = "") -> String? {
    if let name = variable(environment: environment) { return environment[name] }
    return paths.lazy.map { root + $0 }.first { access($0, R_OK) == 0 }
  }

  /// Returns the name of the variable that names the file; nil if none is set, and ``find(environment:root:)`` tries
  /// the known paths.
  ///
  /// - Parameter environment: The environment variables of the process.
  public static func variable(environment: [String: String]) -> String? {
    variables.first { environment[$0]?.isEmpty == false }
  }
}
