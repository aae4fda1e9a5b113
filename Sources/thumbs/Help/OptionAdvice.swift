/// Advice for options that do not exist, by what their users mean.
///
/// The argument parser suggests names with similar letters, which for `--out` is `--fit`.
struct OptionAdvice: Hashable, Sendable {
  /// The names, with their hyphens.
  let names: [String]
  /// The option to use, with its value; nil if the advice names none.
  let option: String?
  /// The sentences after "Unknown option".
  let text: String

  /// Reads a line of `advice.txt`; nil if it has no advice.
  init?(line: Substring) {
    let pattern = #/(?<names>[^|]+) \| (?:<(?<option>[^>]+)> ?)?(?<text>.*)/#
    guard let match = line.wholeMatch(of: pattern) else { return nil }
    names = match.names.split(separator: " ").map(String.init)
    option = match.option.map(String.init)
    let question = option.map { "Did you mean '\($0)'?" }
    text = [question, String(match.text)].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// The names of the options that the text mentions.
  var mentioned: [String] { Self.options(in: text) }

  /// Returns the names of the options that `text` mentions.
  static func options(in text: String) -> [String] {
    text.matches(of: #/(?:^|[ '])(--?[a-z][a-z\-]*)/#).map { String($0.1) }
  }

  /// The text for `retry`, which takes the names and settings of its rows from the report.
  fileprivate var textForRetry: String {
    guard mentioned.contains(where: OptionAdvice.isForFetchOnly) else { return text }
    let start = option.map { "It is '\($0)' in 'thumbs fetch'" } ?? "It concerns 'thumbs fetch'"
    return "\(start); retry uses the rows, names and settings in the report."
  }
}

extension OptionAdvice {
  /// Returns `message` of the argument parser with better advice, if it is about an unknown option, subcommand or value
  /// in `arguments`.
  static func improve(_ message: String, arguments: [String]) -> String {
    if let match = message.prefixMatch(of: #/Error: (?:Unexpected argument|\d+ unexpected arguments:) '[^\n]*/#) {
      let advice = CalledCommand(arguments).isOther ? SubcommandAdvice(arguments).forUnknown : nil
      return String(message[match.range]) + (advice.map { ". " + $0 } ?? "") + message[match.range.upperBound...]
    }
    let pattern = #/Error: Unknown option '(?<name>[^']+)'(?:\. Did you mean '(?<near>[^']+)'\?)?/#
    guard let match = message.prefixMatch(of: pattern) else { return ValueAdvice.improve(message) }
    let name = String(match.name)
    let near = match.near.map(String.init).flatMap { isTypingError(name, for: $0) ? shownName(of: $0) : nil }
    let called = CalledCommand(arguments)
    let special = called.isOther ? SubcommandAdvice(arguments).advice(for: name) : nil
    let advice = special ?? advice(for: name, in: called) ?? near.map { "Did you mean '\($0)'?" }
    return "Error: Unknown option '\(name)'" + (advice.map { ". " + $0 } ?? "") + message[match.range.upperBound...]
  }

  /// Returns the advice for `name`, which no fetching command has; nil if its meaning is unknown.
  static func advice(for name: String) -> String? {
    find(name)?.text ?? inLowerCase(name).map { "Did you mean '\($0)'?" }
  }

  private static func find(_ name: String) -> OptionAdvice? { table[name] ?? joined(name).flatMap { table[$0] } }

  /// Returns true if `fetch` has the option called `name`, but `retry` does not.
  private static func isForFetchOnly(_ name: String) -> Bool {
    fetchOptions[name] != nil && retryOptions[name] == nil
  }

  /// Returns the option that differs from `name`, a long one, only in case.
  private static func inLowerCase(_ name: String) -> String? {
    let lower = name.lowercased()
    return name.hasPrefix("--") && lower != name && fetchOptions[lower] != nil ? shownName(of: lower) : nil
  }

  /// Returns true if the names differ in few letters for their length.
  private static func isTypingError(_ name: String, for other: String) -> Bool {
    name.difference(from: other).count <= max(1, name.drop { $0 == "-" }.count / 2)
  }

  /// Returns the name that help shows for the option called `name`.
  private static func shownName(of name: String) -> String { fetchOptions[name].map { "--\($0.key)" } ?? name }

  private static let fetchOptions = CommandOptions(FetchCommand.self)
  private static let retryOptions = CommandOptions(RetryCommand.self)

  static func advice(for name: String, in command: CalledCommand) -> String? {
    let fetches = fetchOptions[name] != nil
    switch command {
    case .fetch: return advice(for: name)
    case .retry where fetches: return "It is an option of 'thumbs fetch'; retry uses the settings in the report."
    case .retry:
      if let advice = find(name) { return advice.textForRetry }
      return inLowerCase(name).flatMap { isForFetchOnly($0) ? nil : advice(for: name) }
    case .other: return fetches ? "It is an option of 'thumbs fetch'." : nil
    }
  }

  /// Returns the short option of a short option with its value, such as `-P4`.
  private static func joined(_ name: String) -> String? { name.hasPrefix("--") ? nil : String(name.prefix(2)) }

  private static let table: [String: OptionAdvice] = {
    var table: [String: OptionAdvice] = [:]
    for advice in all { for name in advice.names { table[name] = advice } }
    return table
  }()
}

// MARK: Table

extension OptionAdvice {
  /// The parts of `advice.txt`, by command.
  static let parts: [String: [OptionAdvice]] = {
    var parts: [String: [OptionAdvice]] = [:]
    var commands: [String] = []
    for line in String(decoding: PackageResources.advice_txt, as: UTF8.self).split(separator: "\n") {
      if let head = line.wholeMatch(of: #/\[(.+)\]/#) {
        commands = head.1.split(separator: ", ").map(String.init)
      } else if let advice = OptionAdvice(line: line), !line.hasPrefix("#") {
        for command in commands { parts[command, default: []].append(advice) }
      }
    }
    return parts
  }()

  /// The advice for `fetch` and `retry`.
  static let all = parts["fetch"] ?? []
}

/// Advice for values that other programs accept.
private enum ValueAdvice {
  /// Returns `message` of the argument parser with the value to use, if it is about one in the table.
  static func improve(_ message: String) -> String {
    let pattern = #/Error: The value '(?<value>[^'\n]*)' is invalid for '(?<option>--[a-z\-]+) <[^>]*>'\./#
    guard let match = message.prefixMatch(of: pattern),
      let advice = OptionAdvice.parts["fetch values of \(match.option)"]?.first(where: {
        $0.names.contains(match.value.lowercased())
      })
    else { return message }
    return String(message[match.range]) + " Did you mean '\(advice.text)'?" + message[match.range.upperBound...]
  }
}
