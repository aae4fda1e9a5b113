import ArgumentParser
import Foundation

/// The options of a command, as its argument parser describes them.
struct CommandOptions: Sendable {
  struct Option: Hashable, Sendable {
    /// The names with their hyphens. The first long name is the one that help shows.
    let names: [String]
    /// The name of the value in help; nil for a flag.
    let valueName: String?
    let isRepeatable: Bool

    var takesValue: Bool { valueName != nil }

    /// The first long name without its hyphens.
    var key: String { String((names.first { $0.hasPrefix("--") } ?? names[0]).drop { $0 == "-" }) }
  }

  /// As many arguments as the command requires besides its options.
  let placeholders: [String]
  private let byName: [String: Option]

  /// The keys of all options.
  var keys: Set<String> { Set(byName.values.map(\.key)) }

  /// The names of all options, with their hyphens.
  var names: Set<String> { Set(byName.keys) }

  /// Reads the description of `command`.
  init(_ command: any ParsableCommand.Type) {
    let tool = try? JSONDecoder().decode(ToolDescription.self, from: Data(command._dumpHelp().utf8))
    let arguments = tool?.command.arguments ?? []
    placeholders = arguments.filter { $0.kind == "positional" && !$0.isOptional }.map { _ in "-" }
    let options = arguments.compactMap(\.option).filter { $0.key != HeaderArgument.configuredOption }
    byName = Dictionary(options.flatMap { option in option.names.map { ($0, option) } }) { first, _ in first }
  }

  /// Returns the option with this name, which includes its hyphens.
  subscript(name: String) -> Option? { byName[name] }

  /// Returns the option that `setting` sets.
  subscript(setting: ConfigurationSetting) -> Option? { setting.key.flatMap { byName["--\($0)"] } }
}

/// The part of the parser's description of a command that is needed here.
private struct ToolDescription: Decodable {
  struct Command: Decodable { let arguments: [Argument]? }
  struct Name: Decodable { let kind, name: String }
  struct Argument: Decodable {
    let kind: String
    let isOptional, isRepeating: Bool
    let names: [Name]?
    let valueName: String?

    var option: CommandOptions.Option? {
      guard let names, !names.isEmpty else { return nil }
      return CommandOptions.Option(
        names: names.map { ($0.kind == "long" ? "--" : "-") + $0.name },
        valueName: kind == "option" ? valueName ?? "value" : nil, isRepeatable: isRepeating)
    }
  }

  let command: Command
}

/// A command line whose command takes settings from the configuration file.
struct ConfigurableCall: Sendable {
  /// The words that select the command.
  let path: [String]
  /// The command.
  let command: any ParsableCommand.Type
  /// The arguments after the path.
  let arguments: [String]
  /// The options of the command.
  let options: CommandOptions

  /// Finds the command that `arguments` call; nil if it takes no settings, and for help, version and completions.
  init?(_ arguments: [String]) {
    guard let call = CommandCall(arguments) else { return nil }
    let isOfCache = call.path.first == CacheCommand.configuration.commandName
    guard isOfCache || call.command is any DownloadingCommand.Type || call.command is DoctorCommand.Type else {
      return nil
    }
    (path, command, self.arguments) = (call.path, call.command, call.arguments)
    options = CommandOptions(command)
  }

  /// True for a retry whose rows come from a list, too.
  var hasList: Bool { arguments.contains { $0 == "--list" || $0.hasPrefix("--list=") } }

  /// The name of the table with the settings for this command only.
  var table: String { path[0] }
}

/// The options on a command line.
struct GivenOptions: Hashable, Sendable {
  /// The keys of the options that have a value or are set.
  private(set) var keys: Set<String> = []
  /// The keys of the flags that are switched off by `--no-` and their name.
  private(set) var negated: Set<String> = []
  /// The arguments without the negations.
  private(set) var arguments: [String] = []

  /// Finds the options of a command in `arguments`. Stops at `--`.
  init(_ arguments: [String], options: CommandOptions) {
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    for argument in arguments[..<end] {
      if let flag = Self.negatedFlag(argument, options) {
        negated.insert(flag)
        keys.remove(flag)
        self.arguments.removeAll { options[$0]?.key == flag }
      } else {
        let found = Self.keys(in: argument, options)
        keys.formUnion(found)
        negated.subtract(found)
        self.arguments.append(argument)
      }
    }
    self.arguments += arguments[end...]
  }

  /// Returns false for an argument that certainly negates no flag. The options of a command take time to find.
  static func mayNegate(_ argument: String) -> Bool {
    argument.hasPrefix("--no-") && !["--no-cache", "--no-config", "--no-host-breaker"].contains(argument)
  }

  private static func negatedFlag(_ argument: String, _ options: CommandOptions) -> String? {
    guard argument.hasPrefix("--no-"), options[argument] == nil, let flag = options["--" + argument.dropFirst(5)],
      !flag.takesValue
    else { return nil }
    return flag.key
  }

  /// Returns the keys of the options in one argument, which may join several short ones: `-qn`, `-j8`.
  private static func keys(in argument: String, _ options: CommandOptions) -> Set<String> {
    if argument.hasPrefix("--") {
      return Set([options[String(argument.prefix { $0 != "=" })]?.key].compactMap(\.self))
    }
    guard argument.hasPrefix("-") else { return [] }
    var keys: Set<String> = []
    for letter in argument.dropFirst() {
      guard let option = options["-\(letter)"] else { break }
      keys.insert(option.key)
      if option.takesValue { break }
    }
    return keys
  }
}
