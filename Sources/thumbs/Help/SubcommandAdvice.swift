import ArgumentParser

/// Advice for the commands that do not fetch: their subcommands under other names, and options that they lack.
struct SubcommandAdvice {
  /// The words that select the command, such as `cache limit`; only `cache` if its subcommand does not exist.
  let path: String
  /// The first argument, if it is not a subcommand; nil otherwise.
  let unknown: String?
  private let subcommands: [String]
  /// The subcommand of the command line, or all of them if it has none.
  private let candidates: [any ParsableCommand.Type]

  /// Finds the command among `arguments`.
  init(_ arguments: [String]) {
    let first = arguments.first ?? ""
    let group = CommandCall.subcommand(first, of: Thumbs.self)
    let names = group?.configuration.subcommands.compactMap { $0.configuration.commandName } ?? []
    let words = arguments.dropFirst()
    let plain = words.first.flatMap { !$0.hasPrefix("-") || $0 == "-" ? $0 : nil }
    // After an option, the next argument may be its value.
    let known = plain.map { names.contains($0) ? $0 : nil } ?? words.first(where: names.contains)
    path = known.map { "\(first) \($0)" } ?? first
    unknown = known != nil || names.isEmpty ? nil : plain
    subcommands = names
    candidates = (group?.configuration.subcommands ?? []).filter {
      known == nil || $0.configuration.commandName == known
    }
  }

  /// Other names of the subcommands of `command`.
  static func names(of command: String) -> [OptionAdvice] { OptionAdvice.parts["\(command) subcommands"] ?? [] }

  /// The advice for an unknown subcommand; nil if its meaning is unknown.
  var forUnknown: String? {
    guard let unknown else { return nil }
    if let meant = Self.names(of: path).first(where: { $0.names.contains(unknown.lowercased()) }) { return meant.text }
    // A long argument resembles no subcommand, and takes long to compare.
    if unknown.count <= 16,
      let near = subcommands.first(where: { unknown.difference(from: $0).count <= min(2, $0.count - 1) })
    {
      return "Did you mean 'thumbs \(path) \(near)'?"
    }
    guard path == "report", unknown == "-" || unknown.contains(where: { "./".contains($0) }) else { return nil }
    return "Did you mean 'thumbs report summary \(unknown)', or 'thumbs report failed \(unknown)'?"
  }

  /// Returns the advice for the option called `name`, which the command lacks; nil if its meaning is unknown.
  func advice(for name: String) -> String? {
    if let advice = forUnknown { return advice }
    let parts = [path, String(path.prefix { $0 != " " })].compactMap { OptionAdvice.parts[$0] }
    return parts.joined().first { $0.names.contains(name) }?.text ?? place(of: name)
  }

  /// Returns where to put the option called `name`, if it stands before the subcommand that has it; nil otherwise.
  private func place(of name: String) -> String? {
    for command in candidates {
      guard let option = CommandOptions(command)[name], let subcommand = command.configuration.commandName else {
        continue
      }
      let value = option.valueName.map { " " + $0.uppercased() } ?? ""
      return "Put it after the subcommand: thumbs \(path.prefix { $0 != " " }) \(subcommand) \(name)\(value)"
    }
    return nil
  }
}
