import DownloadSupport
import Foundation
import TestSupport
import Testing

@testable import Downloads

@Suite("Certificate bundle") struct CertificateBundleTests {
  private let variables = [
    "CURL_CA_BUNDLE": "/curl.pem", "SSL_CERT_FILE": "/missing.pem", "NIX_SSL_CERT_FILE": "/nix.pem",
  ]

  /// Creates empty files at `paths` below `root`.
  private func create(_ paths: [String], below root: TemporaryDirectory) throws {
    for path in paths {
      let folder = URL(fileURLWithPath: root.path + path).deletingLastPathComponent()
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      _ = try root.write("", as: String(path.dropFirst()))
    }
  }

  @Test(arguments: CertificateBundle.paths) func `The bundle of each distribution is found`(path: String) throws {
    let root = try TemporaryDirectory()
    try create([path], below: root)
    #expect(CertificateBundle.find(environment: [:], root: root.path) == root.path + path)
  }

  @Test func `The first of several bundles counts`() throws {
    let root = try TemporaryDirectory()
    try create(CertificateBundle.paths.reversed(), below: root)
    let found = CertificateBundle.find(environment: ["SSL_CERT_FILE": ""], root: root.path)
    #expect(found == root.path + "/etc/ssl/certs/ca-certificates.crt")
    #expect(CertificateBundle.variable(environment: ["SSL_CERT_FILE": ""]) == nil)
  }

  @Test func `A variable comes before the files, even if it names none`() throws {
    let root = try TemporaryDirectory()
    try create(CertificateBundle.paths, below: root)
    var environment = variables
    for variable in CertificateBundle.variables {
      #expect(CertificateBundle.variable(environment: environment) == variable)
      #expect(CertificateBundle.find(environment: environment, root: root.path) == variables[variable])
      environment[variable] = nil
    }
  }

  @Test func `A system without a bundle has none`() throws {
    #expect(try CertificateBundle.find(environment: [:], root: TemporaryDirectory().path) == nil)
  }
}
