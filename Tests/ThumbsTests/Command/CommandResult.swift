/// The ending and the output of a command.
struct CommandResult: Sendable {
  enum Ending: Hashable, Sendable {
    /// The command exited with this status.
    case exit(Int32)
    /// This signal killed the command.
    case signal(Int32)
  }

  let ending: Ending
  /// Standard output.
  let output: String
  /// Standard error.
  let errors: String

  /// The lines of standard error.
  var errorLines: [Substring] { errors.split(separator: "\n") }
  /// The lines on standard output.
  var outputLines: [Substring] { output.split(separator: "\n") }
}
