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

  /// Advises to use `option` in place of each of `names`, which are separated by spaces. `usage` follows the option.
  init(_ names: String, use option: String, _ usage: String = "") {
    self.init(names, option, text: "Did you mean '\(option)'?\(usage.isEmpty ? "" : " " + usage)")
  }

  /// Advises with `text`.
  init(_ names: String, say text: String) { self.init(names, nil, text: text) }

  private init(_ names: String, _ option: String?, text: String) {
    self.names = names.split(separator: " ").map(String.init)
    self.option = option
    self.text = text
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
  static func isForFetchOnly(_ name: String) -> Bool {
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
