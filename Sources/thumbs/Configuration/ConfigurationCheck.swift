import ArgumentParser

/// The check of the settings of a configuration file, one after the other.
struct ConfigurationCheck {
  let translation: SettingArguments
  /// The lines of the options set so far, by table and key.
  private var lines: [[String]: Int] = [:]
  /// The commands of each table with their options.
  private var catalog: [String: [(command: any ParsableCommand.Type, options: CommandOptions)]] = [:]

  /// Creates the check of a file without settings so far.
  init(translation: SettingArguments) { self.translation = translation }

  /// Throws if `setting` is unknown, repeated, of a wrong type or invalid.
  mutating func check(_ setting: ConfigurationSetting) throws(ConfigurationError) {
    if let table = setting.table, !ConfigurationRules.tables.contains(table) {
      let names = ConfigurationRules.tables.map { "[\($0)]" }.joined(separator: ", ")
      throw translation.error(setting, "there is no table [\(table)]; the tables are \(names)")
    }
    guard let key = setting.key else { return }
    for (command, options) in commands(of: setting.table) {
      guard let option = options[setting] else { continue }
      try checkUse(of: option, setting)
      return try check(try translation.arguments(for: setting, option), of: setting, command, options)
    }
    let advice = OptionAdvice.advice(for: "--\(key)") ?? near(key, in: setting.table).map { "Did you mean '\($0)'?" }
    throw translation.error(setting, "there is no option '\(key)'" + (advice.map { ". " + $0 } ?? ""))
  }

  /// Returns the setting for `table` whose name differs least from `key`; nil if all differ in many letters. Compares
  /// only names of similar lengths, because the time grows with the product of both.
  private mutating func near(_ key: String, in table: String?) -> String? {
    guard key.count <= 64 else { return nil }
    var (nearest, least) = (String?.none, max(2, key.count / 3) + 1)
    for (_, options) in commands(of: table) {
      for name in options.names.sorted() where name.hasPrefix("--") && abs(name.count - 2 - key.count) < least {
        let difference = key.difference(from: name.dropFirst(2)).count
        guard difference < least, let option = options[name] else { continue }
        if ConfigurationRules.maySet(option.key, in: table) { (nearest, least) = (option.key, difference) }
      }
    }
    return nearest
  }

  private mutating func commands(
    of table: String?
  ) -> [(command: any ParsableCommand.Type, options: CommandOptions)] {
    if let known = catalog[table ?? ""] { return known }
    let commands = ConfigurationRules.commands(of: table).map { ($0, CommandOptions($0)) }
    catalog[table ?? ""] = commands
    return commands
  }

  private mutating func checkUse(
    of option: CommandOptions.Option, _ setting: ConfigurationSetting
  ) throws(ConfigurationError) {
    guard ConfigurationRules.maySet(option.key, in: setting.table) else {
      throw translation.error(setting, "'\(option.key)' can be given only on the command line")
    }
    if let line = lines.updateValue(setting.line, forKey: [setting.table ?? "", option.key]) {
      throw translation.error(setting, "'\(option.key)' is set in line \(line), too; keep one of them")
    }
  }

  /// Lets the parser of `command` check the values in `arguments`.
  private func check(
    _ arguments: [String], of setting: ConfigurationSetting, _ command: any ParsableCommand.Type,
    _ options: CommandOptions
  ) throws(ConfigurationError) {
    do {
      _ = try command.parseAsRoot(arguments + options.placeholders)
    } catch {
      throw translation.error(setting, command.message(for: error))
    }
  }
}
