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
    let arguments = PixelOptions.addingNumbers(to: arguments)
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
      let list = call.hasList ? ["--list=-"] : []
      _ = try call.command.parseAsRoot(arguments + list + call.options.placeholders)
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

/// The rules for the settings of a configuration file.
enum ConfigurationRules {
  /// The settings of a single run, and those that the program around a worker relies on.
  static let unconfigurable: Set<String> = [
    "all-failed", "dry-run", "help", "input-file", "list", "no-bodies", "no-config", "protocol", "shard", "version",
  ]

  /// The settings that a report has recorded, or that would replace it. At the top of the file, they are for `fetch`
  /// alone: a retry writes the same files as the run that failed.
  static let recorded: Set<String> = [
    "fallback", "gallery", "metrics", "name-template", "output", "overwrite", "report", "summary",
  ]

  /// The settings that commands of the cache take. Their other options select what to remove or to show.
  static let ofCache: Set<String> = ["cache-dir", "format", "full-urls", "json"]

  /// The settings that exclude each other: one on the command line replaces the other in the file.
  static let exclusive: [Set<String>] = [
    ["quiet", "verbose"], ["offline", "refresh"], ["no-cache", "offline"], ["format", "json"],
  ]

  /// Returns true if a setting in `table` may set the option called `key`.
  fileprivate static func maySet(_ key: String, in table: String?) -> Bool {
    !unconfigurable.contains(key) && (table != "cache" || ofCache.contains(key))
  }

  /// Returns the keys of the file that options on the command line replace. Header fields are replaced one by one.
  static func replaced(by given: GivenOptions) -> Set<String> {
    let keys = given.keys.subtracting(["header"]).union(given.negated)
    return exclusive.filter { !$0.isDisjoint(with: given.keys) }.reduce(keys) { $0.union($1) }
  }

  /// The names of the tables.
  static var tables: [String] { downloadingCommands.compactMap { $0.configuration.commandName } + ["cache"] }

  /// The commands that the settings at the top of the file are for.
  static var downloadingCommands: [any ParsableCommand.Type] {
    Thumbs.configuration.subcommands.filter { $0 is any DownloadingCommand.Type }
  }

  /// Returns the commands that a setting in `table` may be for.
  static func commands(of table: String?) -> [any ParsableCommand.Type] {
    switch table {
    case nil: downloadingCommands
    case "cache": CacheCommand.configuration.subcommands
    case let name?: CommandCall.subcommand(name, of: Thumbs.self).map { [$0] } ?? []
    }
  }

  /// Returns true if `setting`, which sets the option called `key`, is for the command of `call`.
  static func applies(_ setting: ConfigurationSetting, key: String, to call: ConfigurableCall) -> Bool {
    if call.table == "cache" { return setting.table == "cache" || setting.table == nil && key == "cache-dir" }
    // The doctor checks the cache of a run.
    if call.table == DoctorCommand.configuration.commandName { return setting.table == nil && key == "cache-dir" }
    if call.table == "retry", !call.hasList, ofListRows.contains(key) { return false }
    guard setting.table == nil else { return setting.table == call.table }
    if call.table == "retry", ofListRows.contains(key) || key == "output" { return call.hasList }
    return call.table == "fetch" || !recorded.contains(key)
  }

  /// The settings of rows that come from a list. A report has those of its rows.
  private static let ofListRows = CommandOptions(ListRows.self).keys

  private struct ListRows: ParsableCommand {
    @OptionGroup var columns: ColumnOptions
    @OptionGroup var pixels: PixelOptions
    @OptionGroup var naming: NamingOptions
  }
}

/// The check of the settings of a configuration file, one after the other.
private struct ConfigurationCheck {
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
      // Some options of a retry are valid only with a list.
      let list = command is RetryCommand.Type ? ["--list=-"] : []
      _ = try command.parseAsRoot(arguments + list + options.placeholders)
    } catch {
      throw translation.error(setting, command.message(for: error))
    }
  }
}

/// An error in the configuration file. The command exits with 64 (`EX_USAGE`).
struct ConfigurationError: Error, Hashable, Sendable {
  /// The path of the file.
  var path: String
  /// The line, from 1; nil if the error concerns the whole file.
  var line: Int?
  /// The description of the error and its remedy, without the period at the end.
  var reason: String
}

extension ConfigurationError: CustomStringConvertible {
  /// One sentence with the file, the line and the reason.
  var description: String {
    let end = reason.hasSuffix(".") || reason.hasSuffix("?") ? "" : "."
    return path + (line.map { ", line \($0)" } ?? "") + ": " + reason + end
  }
}
