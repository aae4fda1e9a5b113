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
