import ArgumentParser

/// A configuration file whose settings are checked, ready to be merged into command lines.
struct Configuration: Sendable {
  private let settings: [ConfigurationSetting]
  private let translation: SettingArguments

  /// Checks the settings of `file`.
  ///
  /// - Throws: A ``ConfigurationError`` for an unknown key, a wrong type or an invalid value.
  init(_ file: ConfigurationFile, environment: [String: String]) throws(ConfigurationError) {
    settings = file.settings.filter { $0.key != nil }
    translation = SettingArguments(path: file.path, environment: environment)
    var check = ConfigurationCheck(translation: translation)
    for setting in file.settings { try check.check(setting) }
  }

  /// Returns `arguments` with the settings for the command that they call, and without negations of its flags. What is
  /// on the command line replaces the same setting of the file that `environment` names. The doctor reports an
  /// invalid file, so it runs without its settings.
  static func merge(_ arguments: [String], environment: [String: String]) throws(ConfigurationError) -> [String] {
    do throws(ConfigurationError) {
      return try merged(arguments, environment: environment)
    } catch {
      guard let call = ConfigurableCall(arguments), call.command is DoctorCommand.Type else { throw error }
      return arguments
    }
  }

  private static func merged(
    _ arguments: [String], environment: [String: String]
  ) throws(ConfigurationError) -> [String] {
    let options = arguments.prefix { $0 != "--" }
    let file = options.contains("--no-config") ? nil : try ConfigurationFile(environment: environment)
    guard file != nil || options.contains(where: GivenOptions.mayNegate) else { return arguments }
    guard let call = ConfigurableCall(arguments) else { return arguments }
    let given = GivenOptions(call.arguments, options: call.options)
    let configured = try file.map { file throws(ConfigurationError) in
      try Configuration(file, environment: environment).arguments(for: call, given: given)
    }
    return call.path + (configured ?? []) + given.arguments
  }

  /// Returns the arguments that set what the command line does not. A table of the command wins over the top.
  private func arguments(
    for call: ConfigurableCall, given: GivenOptions
  ) throws(ConfigurationError) -> [String] {
    let settings = chosenSettings(for: call)
    let taken = ConfigurationRules.replaced(by: given)
    var arguments: [String] = []
    for (option, setting) in settings where !taken.contains(option.key) {
      arguments += try translation.arguments(for: setting, option)
    }
    do {
      _ = try call.command.parseAsRoot(arguments + call.options.placeholders)
    } catch {
      throw ConfigurationError(path: translation.path, reason: call.command.message(for: error))
    }
    return arguments
  }

  /// The settings for the command of `call`, in the order of their lines.
  private func chosenSettings(
    for call: ConfigurableCall
  ) -> [(option: CommandOptions.Option, setting: ConfigurationSetting)] {
    var chosen: [CommandOptions.Option: ConfigurationSetting] = [:]
    for setting in settings {
      guard let option = call.options[setting], ConfigurationRules.applies(setting, key: option.key, to: call) else {
        continue
      }
      if setting.table != nil || chosen[option] == nil { chosen[option] = setting }
    }
    return chosen.sorted { $0.value.line < $1.value.line }.map { ($0.key, $0.value) }
  }
}
