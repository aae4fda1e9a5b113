import ArgumentParser

/// Translates settings into arguments.
struct SettingArguments: Sendable {
  /// The path of the configuration file.
  let path: String
  let environment: [String: String]

  /// Returns the arguments for `setting`, which sets `option`; none for a flag that is false.
  ///
  /// - Throws: A ``ConfigurationError`` if the option does not take values of that type.
  func arguments(
    for setting: ConfigurationSetting, _ option: CommandOptions.Option
  ) throws(ConfigurationError) -> [String] {
    switch setting.value {
    case .scalar(.flag(let isSet)) where !option.takesValue: return isSet ? ["--\(option.key)"] : []
    case _ where !option.takesValue: throw error(setting, "'\(option.key)' is true or false")
    case .scalar(.text(let text)): return try self.arguments(text, setting, option)
    case .list(let scalars) where option.isRepeatable:
      var arguments: [String] = []
      for scalar in scalars {
        guard case .text(let text) = scalar else {
          throw error(setting, "give strings or numbers, as in [\"a\", \"b\"]")
        }
        arguments += try self.arguments(text, setting, option)
      }
      return arguments
    case .list: throw error(setting, "'\(option.key)' takes one value, not an array")
    case .scalar, .unsupported: throw error(setting, "give a string or a number for '\(option.key)'")
    }
  }

  /// Returns an error at the line of `setting`.
  func error(_ setting: ConfigurationSetting, _ reason: String) -> ConfigurationError {
    ConfigurationError(path: path, line: setting.line, reason: reason)
  }

  private func arguments(
    _ text: String, _ setting: ConfigurationSetting, _ option: CommandOptions.Option
  ) throws(ConfigurationError) -> [String] {
    guard option.key == "header" else {
      // The parser finds no value in `--user-agent=`.
      return text.isEmpty ? ["--\(option.key)", ""] : ["--\(option.key)=\(inHome(text))"]
    }
    let expanded = text.hasPrefix("@") ? "@" + inHome(String(text.dropFirst())) : try expand(text, setting)
    do {
      _ = try HeaderArgument(expanded)
    } catch {
      // The parser would quote the field, which may be secret.
      throw self.error(setting, "header: \((error as? ValidationError)?.message ?? "\(error)")")
    }
    return ["--\(HeaderArgument.configuredOption)=\(expanded)"]
  }

  /// Returns `text` with the home directory in the place of a tilde, as a shell would.
  private func inHome(_ text: String) -> String {
    guard text.hasPrefix("~/"), let home = environment["HOME"] else { return text }
    return home + text.dropFirst()
  }

  /// Returns `text` with the values of variables in the place of `${NAME}`.
  private func expand(_ text: String, _ setting: ConfigurationSetting) throws(ConfigurationError) -> String {
    var result = ""
    var rest = text[...]
    while let open = rest.firstRange(of: "${"), let close = rest[open.upperBound...].firstIndex(of: "}") {
      let name = String(rest[open.upperBound..<close])
      guard let value = environment[name] else {
        throw error(setting, "the environment variable \(name) is not set")
      }
      result += rest[..<open.lowerBound] + value
      rest = rest[rest.index(after: close)...]
    }
    return result + rest
  }
}
