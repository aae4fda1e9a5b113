import BatchFetch
import Glibc
import ImageCache

/// The findings of `thumbs doctor`. Its JSON fields are the properties: fields may be added; existing ones do not
/// change.
struct Checkup: Encodable {
  let schema = 1
  /// The number of findings that make a run, or a part of it, fail.
  let problems: Int
  /// The number of findings that a run can live with.
  let warnings: Int
  let findings: [Finding]

  private enum CodingKeys: CodingKey {
    case schema, problems, warnings, findings
  }

  /// Makes `checks`.
  init(_ checks: [any DoctorCheck]) {
    findings = checks.flatMap(\.findings)
    problems = findings.count { $0.state == .problem }
    warnings = findings.count { $0.state == .warning }
  }

  /// Returns the checks of this machine, for a cache in `cacheDirectory` and the state of the configuration file.
  /// Nothing is changed on disk. The remote cache, if there is one, gets one request.
  static func checks(
    cacheDirectory: String?, configuration: ConfigurationFileCheck.Condition, environment: [String: String]
  ) -> [any DoctorCheck] {
    let decoders = DecoderCondition(measuring: DecoderIsolation())
    let sources = SourceFormat.inProcess + decoders.formats
    let parts: [any DoctorCheck] = [
      LibraryCheck(
        libraries: CurlTransport.libraries + LibraryVersion.imageCache, faults: CurlTransport.libraryFaults),
      FormatCheck(
        sources: sources.map(\.rawValue), outputs: (OutputFormat.inProcess + decoders.outputs).map(\.rawValue)),
      DecoderCheck(condition: decoders),
      ConfigurationFileCheck(condition: configuration),
      CacheCheck(condition: cacheDirectory.map { CacheCondition(measuring: $0) }),
    ]
    let certificates: [any DoctorCheck] = configuration.authorities.map {
      CertificateCheck(configured: $0, environment: environment)
    }
    let limits: [any DoctorCheck] = [
      ProxyCheck(environment: environment),
      RemoteCacheCheck(
        condition: RemoteCacheCheck.Condition(isConfigured: configuration.isUsed, environment: environment)),
      DescriptorCheck(limits: ResourceLimit.descriptors),
      MemoryCheck(limits: MemoryLimits(root: "")), SpaceCheck(path: ".", fileSystem: FileSystem(at: ".")),
    ]
    return parts + certificates + limits
  }

  /// The findings as lines for people, and their number.
  var text: String {
    (findings.map(Self.text) + [total]).joined(separator: "\n")
  }

  private static func text(of finding: Finding) -> String {
    let head = column(finding.state.rawValue, 9) + column(finding.check, 14) + finding.message.printable
    guard let remedy = finding.remedy else { return head }
    return head + "\n" + column("", 23) + "Remedy: " + remedy.printable
  }

  private static func column(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  private var total: String {
    let counts = [("problem", problems), ("warning", warnings)].filter { $0.1 > 0 }
    if counts.isEmpty { return "No problems." }
    return counts.map { "\($1) \($0)\($1 == 1 ? "" : "s")" }.joined(separator: ", ") + "."
  }
}
