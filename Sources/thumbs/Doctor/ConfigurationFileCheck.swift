import ArgumentParser

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
        let run = try Thumbs.parseAsRoot(Configuration.merge(arguments, environment: environment))
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
