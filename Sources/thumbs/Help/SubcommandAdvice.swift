import ArgumentParser

/// Advice for the commands that do not fetch: their subcommands under other names, and options that they lack.
struct SubcommandAdvice {
  /// The words that select the command, such as `cache limit`; only `cache` if its subcommand does not exist.
  let path: String
  /// The argument in the place of a subcommand that does not exist; nil if there is none.
  let unknown: String?
  private let subcommands: [String]

  /// Finds the command among `arguments`.
  init(_ arguments: [String]) {
    let first = arguments.first ?? ""
    let command = ConfigurableCall.subcommand(first, of: Thumbs.self)
    let names = command?.configuration.subcommands.compactMap { $0.configuration.commandName } ?? []
    let second = arguments.dropFirst().first { !$0.hasPrefix("-") || $0 == "-" }
    let known = second.flatMap { names.contains($0) ? $0 : nil }
    path = known.map { "\(first) \($0)" } ?? first
    unknown = known != nil || names.isEmpty ? nil : second
    subcommands = names
  }

  /// The advice for the argument that is no subcommand; nil if its meaning is unknown.
  var forUnknown: String? {
    guard let unknown else { return nil }
    if let meant = Self.names[path]?.first(where: { $0.names.contains(unknown.lowercased()) }) { return meant.text }
    if let near = subcommands.first(where: { unknown.difference(from: $0).count <= min(2, $0.count - 1) }) {
      return "Did you mean 'thumbs \(path) \(near)'?"
    }
    guard path == "report", unknown == "-" || unknown.contains(where: { "./".contains($0) }) else { return nil }
    return "Did you mean 'thumbs report summary \(unknown)', or 'thumbs report failed \(unknown)'?"
  }

  /// Returns the advice for the option called `name`, which the command lacks; nil if its meaning is unknown.
  func advice(for name: String) -> String? {
    if unknown != nil { return forUnknown }
    let advice = (Self.options[path] ?? []) + (Self.options[String(path.prefix { $0 != " " })] ?? [])
    return advice.first { $0.names.contains(name) }?.text
  }
}
