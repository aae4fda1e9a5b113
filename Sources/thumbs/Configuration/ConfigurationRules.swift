import ArgumentParser

/// The rules for the settings of a configuration file.
enum ConfigurationRules {
  /// The settings of a single run, and those that the program around a worker relies on.
  static let unconfigurable: Set<String> = [
    "all-failed", "dry-run", "help", "input-file", "no-bodies", "no-config", "protocol", "shard", "version",
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
  static func maySet(_ key: String, in table: String?) -> Bool {
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
    case let name?: ConfigurableCall.subcommand(name, of: Thumbs.self).map { [$0] } ?? []
    }
  }

  /// Returns true if `setting`, which sets the option called `key`, is for the command of `call`.
  static func applies(_ setting: ConfigurationSetting, key: String, to call: ConfigurableCall) -> Bool {
    if call.table == "cache" { return setting.table == "cache" || setting.table == nil && key == "cache-dir" }
    // The doctor checks the cache of a run.
    if call.table == DoctorCommand.configuration.commandName { return setting.table == nil && key == "cache-dir" }
    guard setting.table == nil else { return setting.table == call.table }
    return call.table == "fetch" || !recorded.contains(key)
  }
}
