import ArgumentParser
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

/// Lists the image formats of this build.
struct FormatCheck: DoctorCheck {
  /// The formats that can be decoded.
  var sources: [String]
  /// The formats that can be written.
  var outputs: [String]

  var findings: [Finding] {
    let (sources, outputs) = (sources.sorted().joined(separator: " "), outputs.sorted().joined(separator: " "))
    let message = "in: \(sources); out: \(outputs)"
    let values = ["in": sources, "out": outputs]
    guard self.sources.contains("webp") else {
      let remedy = "Build with the package trait WebP, which is on by default."
      return [.warning("formats", message + "; WebP is missing", remedy: remedy, values)]
    }
    return [.ok("formats", message, values)]
  }
}

/// Checks a program that decodes formats which are not trusted.
struct DecoderCheck: DoctorCheck {
  var kind = DecoderKind.images
  /// The condition of the program on this machine.
  var condition: DecoderCondition

  /// The name of the check.
  private var name: String {
    switch kind {
    case .images: "decoders"
    case .documents: "documents"
    }
  }

  var findings: [Finding] { [fault ?? .ok(name, message, values)] }

  private var absence: Finding {
    switch kind {
    case .images:
      warning(
        "thumbs-decode is not installed, so AVIF, HEIC, JPEG 2000, JPEG XL, PSD, SVG, TIFF and camera raw files cannot "
          + "be decoded, and AVIF not written.",
        "Install the package thumbs-decoders if such images should have thumbnails.")
    // Few lists have documents.
    case .documents: .ok(name, "thumbs-decode-pdf is not installed, so PDF cannot be decoded", values)
    }
  }

  /// Returns the first reason why images of these formats fail; nil if they do not.
  private var fault: Finding? {
    guard let program = condition.program else { return absence }
    if let failure = condition.failure {
      return .problem(
        name, "\(program) does not run: \(failure).", remedy: "Install the package \(kind.package) again.",
        values)
    }
    guard condition.isProtected else {
      return .problem(
        name, "\(message), which is not enough, so it refuses to decode.",
        remedy: protectionRemedy, values
      )
    }
    guard condition.missing.isEmpty else {
      let names = condition.missing.map(\.rawValue).joined(separator: ", ")
      return warning("\(message); without \(names)", "\(installation), and build \(kind.name) again.")
    }
    return nil
  }

  private var protectionRemedy: String {
    guard condition.missingPackages.contains("libseccomp-dev") else {
      return "Allow seccomp filters, or give --unsafe-decoders for images that you trust."
    }
    return "It was built without libseccomp. \(installation), and build \(kind.name) again."
  }

  private var installation: String { "Install \(condition.missingPackages.joined(separator: ", "))" }

  private func warning(_ message: String, _ remedy: String) -> Finding {
    .warning(name, message, remedy: remedy, values)
  }

  private var message: String {
    let protections = condition.protections.joined(separator: ", ")
    return
      "\(condition.libraries.joined(separator: ", ")); protected by \(protections.isEmpty ? "nothing" : protections)"
  }

  private var values: [String: String] {
    var values = [
      "formats": condition.formats.map(\.rawValue).joined(separator: " "),
      "libraries": condition.libraries.joined(separator: ", "),
      "protections": condition.protections.joined(separator: ", "),
    ]
    values["program"] = condition.program
    return values
  }
}

/// Checks whether there is enough memory to decode images.
struct MemoryCheck: DoctorCheck {
  /// The memory with which a run on some processors decodes large images side by side.
  static let enough = 512 << 20
  /// The memory below which even single photos fail.
  static let least = 96 << 20

  var limits: MemoryLimits

  var findings: [Finding] {
    let named = [("machine", limits.machine), ("group", limits.group), ("addressSpace", limits.addressSpace)]
    let known = named.compactMap { name, bytes in bytes.map { (name, $0) } }
    let values = Dictionary(uniqueKeysWithValues: known.map { ($0, "\($1)") })
    let labels = ["machine": "machine", "group": "control group", "addressSpace": "address space"]
    let text = known.map { "\(labels[$0] ?? $0) \(CacheText.size($1))" }.joined(separator: ", ")
    guard let smallest = limits.smallest else { return [.ok("memory", "unknown")] }
    let remedy = "Raise the limit (memory.max, --memory of a container, ulimit -v), or use --render-threads 1."
    if smallest < Self.least {
      return [.problem("memory", "\(text): too little to decode photos.", remedy: remedy, values)]
    }
    if smallest < Self.enough {
      return [.warning("memory", "\(text): large images may fail.", remedy: remedy, values)]
    }
    return [.ok("memory", text, values)]
  }
}

/// Checks how many files and connections may be open. A run raises the limit to its maximum.
struct DescriptorCheck: DoctorCheck {
  /// The number of descriptors with which a run with the default options is never held back: its connections, and
  /// everything else.
  static let enough = 256 + DescriptorLimit.others

  var limits: ResourceLimit

  var findings: [Finding] {
    let text = limits.current.map { "\($0)" } ?? "any number of"
    let maximum = limits.maximum.map { "\($0)" } ?? "any number"
    let values = ["current": limits.current, "maximum": limits.maximum].compactMapValues { $0.map { "\($0)" } }
    let message = "\(text) open files, which a run raises to \(maximum)"
    guard let count = limits.maximum, count < Self.enough else { return [.ok("descriptors", message, values)] }
    let remedy = "Raise the limit (ulimit -Hn, LimitNOFILE of systemd, --ulimit of a container)."
    guard count < DescriptorLimit.others else {
      return [.warning("descriptors", "\(message): too few for many connections.", remedy: remedy, values)]
    }
    return [
      .problem("descriptors", "\(message); a run needs at least \(DescriptorLimit.others).", remedy: remedy, values)
    ]
  }
}

/// Checks whether the configuration file is valid.
struct ConfigurationFileCheck: DoctorCheck {
  /// The state of the configuration file.
  enum Condition: Hashable, Sendable {
    /// There is no file.
    case missing
    /// The file is not read, because of `--no-config`.
    case ignored
    /// The file at `path` is valid. `authorities` are the distinct paths that it sets as `cacert` for the commands that
    /// fetch; nil for a command without one.
    case valid(path: String, authorities: [String?])
    /// The file has an error, with which no run starts.
    case invalid(ConfigurationError)
  }

  /// The state of the file.
  var condition: Condition

  var findings: [Finding] {
    switch condition {
    case .missing: return [.ok("configuration", "none")]
    case .ignored: return [.ok("configuration", "ignored because of --no-config")]
    case .valid(let path, _): return [.ok("configuration", path, ["file": path])]
    case .invalid(let error):
      let values = ["file": error.path, "line": error.line.map { "\($0)" }].compactMapValues { $0 }
      return [
        .problem(
          "configuration", Redaction.message("\(error)"), remedy: "Correct the file, or ignore it with --no-config.",
          values)
      ]
    }
  }
}

extension ConfigurationFileCheck.Condition {
  /// Reads the file that `environment` names, as a run of each command that fetches would.
  init(environment: [String: String]) {
    guard let path = ConfigurationFile.path(environment) else {
      self = .missing
      return
    }
    do {
      var authorities: [String?] = []
      for command in ConfigurationRules.downloadingCommands {
        let arguments = [command.configuration.commandName ?? ""] + CommandOptions(command).placeholders
        let run = try Thumbs.parseCall(Configuration.merge(arguments, environment: environment))
        let path = (run as? any DownloadingCommand)?.network.certificateAuthorities
        if !authorities.contains(path) { authorities.append(path) }
      }
      self = .valid(path: path, authorities: authorities)
    } catch {
      let flaw = error as? ConfigurationError
      self = .invalid(flaw ?? ConfigurationError(path: path, reason: Thumbs.message(for: error)))
    }
  }

  /// True if runs read the file.
  var isUsed: Bool { if case .valid = self { true } else { false } }

  /// The paths of the certificate authorities that the file sets; nil stands for those of the system.
  var authorities: [String?] { if case .valid(_, let authorities) = self { authorities } else { [nil] } }
}
