import BatchFetch
import ImageCache

/// Checks the versions of the program and of its libraries.
struct LibraryCheck: DoctorCheck {
  private static let tlsNames = [
    "OpenSSL", "GnuTLS", "LibreSSL", "BoringSSL", "wolfSSL", "mbedTLS", "rustls-ffi", "AWS-LC",
  ]

  /// The libraries with the versions in use.
  var libraries: [LibraryVersion]
  /// The known faults of these versions.
  var faults: [LibraryFault] = []
  /// The version of the command.
  var version = Downloader.version
  /// The version of the Swift runtime.
  var swift = "\(_SwiftStdlibVersion.current)"

  var findings: [Finding] {
    let program = Finding.ok("version", "thumbs \(version), Swift \(swift)", ["thumbs": version, "Swift": swift])
    let text = libraries.map { "\($0.name) \($0.version)" }.joined(separator: ", ")
    let values = Dictionary(libraries.map { ($0.name, $0.version) }) { first, _ in first }
    guard libraries.contains(where: { Self.tlsNames.contains($0.name) }) else {
      let remedy = "Install a libcurl with TLS, such as libcurl4 of Debian."
      return [
        program,
        .problem("libraries", "\(text). libcurl has no TLS, so https fails.", remedy: remedy, values),
      ] + faults.map(finding)
    }
    return [program, .ok("libraries", text, values)] + faults.map(finding)
  }

  private func finding(_ fault: LibraryFault) -> Finding {
    let version = libraries.first { $0.name == fault.library }?.version ?? ""
    return .warning("libraries", "\(fault.library) \(version) has a known fault: \(fault.effect)", remedy: fault.remedy)
  }
}
