import ArgumentParser

/// The usage at the end of error messages.
enum CommandUsage {
  /// Returns the message for `error`, which `command` threw when it ran. After parsing, the parser no longer knows the
  /// command and would name the help of `thumbs`.
  static func message(for error: any Error, in command: (any ParsableCommand)?) -> String {
    guard let command, let error = error as? ValidationError else { return Thumbs.fullMessage(for: error) }
    let usage = Thumbs.usageString(for: type(of: command))
    let path = usage.split(separator: " ").prefix { $0.first?.isLetter ?? false }.joined(separator: " ")
    return "Error: \(error.message)\nUsage: \(usage)\n  See '\(path) --help' for more information."
  }
}
