/// How a command ended, and what it said.
struct CommandResult: Sendable {
  enum Ending: Hashable, Sendable {
    /// By itself, with this status.
    case exit(Int32)
    /// Killed by this signal.
    case signal(Int32)
  }

  let ending: Ending
  /// Standard output.
  let output: String
  /// Standard error.
  let errors: String

  /// The lines of standard error.
  var errorLines: [Substring] { errors.split(separator: "\n") }
}
