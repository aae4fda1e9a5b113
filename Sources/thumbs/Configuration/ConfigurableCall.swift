import ArgumentParser

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
    guard !arguments.prefix(while: { $0 != "--" }).contains(where: Self.isAboutCommand) else { return nil }
    let words = arguments.prefix(2)
    if let name = words.first, name == CacheCommand.configuration.commandName {
      guard words.count == 2, let command = Self.subcommand(words[1], of: CacheCommand.self) else { return nil }
      self.init(path: Array(words), command: command, arguments: arguments.dropFirst(2))
    } else if let name = words.first, let command = Self.subcommand(name, of: Thumbs.self) {
      guard command is any DownloadingCommand.Type || command is DoctorCommand.Type else { return nil }
      self.init(path: [name], command: command, arguments: arguments.dropFirst())
    } else {
      guard words.first != "help" else { return nil }
      self.init(path: ["fetch"], command: FetchCommand.self, arguments: arguments[...])
    }
  }

  private init(path: [String], command: any ParsableCommand.Type, arguments: ArraySlice<String>) {
    (self.path, self.command, self.arguments) = (path, command, Array(arguments))
    options = CommandOptions(command)
  }

  /// The name of the table with the settings for this command only.
  var table: String { path[0] }

  /// Returns the subcommand of `command` called `name`.
  static func subcommand(_ name: String, of command: any ParsableCommand.Type) -> (any ParsableCommand.Type)? {
    command.configuration.subcommands.first { $0.configuration.commandName == name }
  }

  private static func isAboutCommand(_ argument: String) -> Bool {
    ["-h", "--help", "--help-hidden", "--version", "--generate-completion-script"].contains(argument)
      || argument.hasPrefix("--experimental-") || argument.hasPrefix("---")
  }
}
