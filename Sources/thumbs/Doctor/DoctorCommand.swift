import ArgumentParser
import BatchFetch
import Foundation
import Glibc
import ImageCache

/// `thumbs doctor`: checks whether this machine is ready for a run.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check libraries, configuration, caches, certificates, proxies, limits and free space.",
    discussion: """
      Each line is ok, a warning (a run works, but slower or with fewer features) or a problem (a run, or a part of \
      it, does not work), with a remedy. Nothing is changed on disk. If there is a remote cache, it gets one request.

      Examples:
        thumbs doctor
        thumbs doctor --json

      Exit status:
        0    no problem
        1    at least one problem
      """)

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Cache directory. (default: $THUMBS_CACHE_DIR, else $XDG_CACHE_HOME/thumbs, else ~/.cache/thumbs)",
      valueName: "dir"),
    completion: .directory)
  var cacheDir: String?

  @OptionGroup var output: JSONOption
  @OptionGroup var configuration: ConfigurationOptions

  func run() throws {
    let environment = ProcessInfo.processInfo.environment
    let directory = cacheDir ?? CacheLocation.standard(environment: environment)
    let file = configuration.noConfig ? .ignored : ConfigurationFileCheck.Condition(environment: environment)
    let checks = Checkup.checks(cacheDirectory: directory, configuration: file, environment: environment)
    let checkup = Checkup(checks)
    try output.print(checkup, or: checkup.text)
    if checkup.problems > 0 { throw ExitCode.failure }
  }
}

/// The findings of `thumbs doctor`. Its JSON fields are the properties: fields may be added; existing ones do not
/// change.
private struct Checkup: Encodable {
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
    let documents = DecoderCondition.documents()
    let sources = SourceFormat.inProcess + decoders.formats + documents.formats
    let parts: [any DoctorCheck] = [
      LibraryCheck(
        libraries: CurlTransport.libraries + LibraryVersion.imageCache, faults: CurlTransport.libraryFaults),
      FormatCheck(
        sources: sources.map(\.rawValue), outputs: (OutputFormat.inProcess + decoders.outputs).map(\.rawValue)),
      DecoderCheck(condition: decoders), DecoderCheck(kind: .documents, condition: documents),
      ConfigurationFileCheck(condition: configuration),
      CacheCheck(
        condition: cacheDirectory.map { CacheCondition(measuring: $0) },
        shortage: cacheDirectory.flatMap { try? CacheInspector(directory: $0).shortage() }),
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

/// A check of one aspect of the machine. Its properties are the facts, so that tests can make them up.
protocol DoctorCheck: Sendable {
  /// The results of the check, at least one.
  var findings: [Finding] { get }
}

/// The result of one check of the machine. Its JSON fields are the properties: fields may be added; existing ones do
/// not change.
struct Finding: Hashable, Encodable, Sendable {
  /// The verdict.
  enum State: String, Encodable, Sendable {
    /// Nothing to do.
    case ok
    /// A run works, but slower or with fewer features.
    case warning
    /// A run, or a part of it, does not work.
    case problem
  }

  /// The name of the check, such as `cache`.
  let check: String
  let state: State
  /// One sentence for people, or a list of facts.
  let message: String
  /// One sentence that names the way to a better state; nil if there is nothing to do.
  let remedy: String?
  /// The facts for programs, by name.
  let values: [String: String]

  /// Creates a finding that needs no action.
  static func ok(_ check: String, _ message: String, _ values: [String: String] = [:]) -> Finding {
    Finding(check: check, state: .ok, message: message, remedy: nil, values: values)
  }

  /// Creates a finding that a run can live with.
  static func warning(
    _ check: String, _ message: String, remedy: String, _ values: [String: String] = [:]
  ) -> Finding {
    Finding(check: check, state: .warning, message: message, remedy: remedy, values: values)
  }

  /// Creates a finding that makes a run, or a part of it, fail.
  static func problem(
    _ check: String, _ message: String, remedy: String, _ values: [String: String] = [:]
  ) -> Finding {
    Finding(check: check, state: .problem, message: message, remedy: remedy, values: values)
  }
}
