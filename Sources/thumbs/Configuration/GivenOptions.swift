/// The options on a command line.
struct GivenOptions: Hashable, Sendable {
  /// The keys of the options that have a value or are set.
  private(set) var keys: Set<String> = []
  /// The keys of the flags that are switched off by `--no-` and their name.
  private(set) var negated: Set<String> = []
  /// The arguments without the negations.
  private(set) var arguments: [String] = []

  /// Finds the options of a command in `arguments`. Stops at `--`.
  init(_ arguments: [String], options: CommandOptions) {
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    for argument in arguments[..<end] {
      if let flag = Self.negatedFlag(argument, options) {
        negated.insert(flag)
        keys.remove(flag)
        self.arguments.removeAll { options[$0]?.key == flag }
      } else {
        let found = Self.keys(in: argument, options)
        keys.formUnion(found)
        negated.subtract(found)
        self.arguments.append(argument)
      }
    }
    self.arguments += arguments[end...]
  }

  /// Returns false for an argument that certainly negates no flag. The options of a command take time to find.
  static func mayNegate(_ argument: String) -> Bool {
    argument.hasPrefix("--no-") && !["--no-cache", "--no-config", "--no-host-breaker"].contains(argument)
  }

  private static func negatedFlag(_ argument: String, _ options: CommandOptions) -> String? {
    guard argument.hasPrefix("--no-"), options[argument] == nil, let flag = options["--" + argument.dropFirst(5)],
      !flag.takesValue
    else { return nil }
    return flag.key
  }

  /// Returns the keys of the options in one argument, which may join several short ones: `-qn`, `-j8`.
  private static func keys(in argument: String, _ options: CommandOptions) -> Set<String> {
    if argument.hasPrefix("--") {
      return Set([options[String(argument.prefix { $0 != "=" })]?.key].compactMap(\.self))
    }
    guard argument.hasPrefix("-") else { return [] }
    var keys: Set<String> = []
    for letter in argument.dropFirst() {
      guard let option = options["-\(letter)"] else { break }
      keys.insert(option.key)
      if option.takesValue { break }
    }
    return keys
  }
}
