import ArgumentParser

/// The command that a command line calls, as far as help and messages need it.
enum CalledCommand: Hashable, Sendable {
  case fetch, retry
  /// Any other subcommand, and `help`.
  case other(String)

  /// True for a command that does not fetch.
  var isOther: Bool { if case .other = self { true } else { false } }

  /// Finds the subcommand among `arguments`. Only the first one can be a subcommand.
  init(_ arguments: [String]) {
    let names = Thumbs.configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
    switch arguments.first {
    case "retry": self = .retry
    case let name? where name != "fetch" && names.contains(name): self = .other(name)
    default: self = .fetch
    }
  }
}
