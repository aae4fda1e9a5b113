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
    let group = ConfigurableCall.subcommand(first, of: Thumbs.self)
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

  /// The advice for an unknown subcommand; nil if its meaning is unknown.
  var forUnknown: String? {
    guard let unknown else { return nil }
    if let meant = Self.names[path]?.first(where: { $0.names.contains(unknown.lowercased()) }) { return meant.text }
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
    let advice = (Self.options[path] ?? []) + (Self.options[String(path.prefix { $0 != " " })] ?? [])
    return advice.first { $0.names.contains(name) }?.text ?? place(of: name)
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

// MARK: Table

extension SubcommandAdvice {
  /// Other names of the subcommands, by command.
  static let names: [String: [OptionAdvice]] = [
    "cache": [
      OptionAdvice("list", say: "Did you mean 'thumbs cache ls'?"),
      OptionAdvice("info status size usage du", say: "Did you mean 'thumbs cache stats'?"),
      OptionAdvice(
        "purge clean flush wipe empty reset delete-all",
        say: "Did you mean 'thumbs cache clear', which removes everything, or 'thumbs cache prune'?"),
      OptionAdvice("gc trim shrink evict", say: "Did you mean 'thumbs cache prune'?"),
      OptionAdvice("delete del remove", say: "Did you mean 'thumbs cache rm URL'?"),
      OptionAdvice("get cat inspect", say: "Did you mean 'thumbs cache show URL'?"),
      OptionAdvice("explain", say: "Did you mean 'thumbs cache why URL'?"),
      OptionAdvice("check fsck repair", say: "Did you mean 'thumbs cache verify'?"),
      OptionAdvice("path location where directory", say: "Did you mean 'thumbs cache dir'?"),
    ],
    "report": [
      OptionAdvice("stats statistics totals show info", say: "Did you mean 'thumbs report summary FILE'?"),
      OptionAdvice("failures errors list ls", say: "Did you mean 'thumbs report failed FILE'?"),
      OptionAdvice("retry", say: "Did you mean 'thumbs retry FILE'?"),
      OptionAdvice("combine join concat cat union", say: "Did you mean 'thumbs report merge FILES'?"),
    ],
  ]

  /// The advice for options, by command. That for `cache` is for all its subcommands.
  static let options: [String: [OptionAdvice]] = [
    "doctor": [
      OptionAdvice("--verbose -v --debug --all", say: "Every check is shown without an option."),
      OptionAdvice("-o --output --report", say: "The checks go to standard output; --json prints a JSON object."),
    ],
    "worker": [
      OptionAdvice(
        "-o --output --output-dir --out --report --summary --gallery",
        say: "The results go to standard output, with the thumbnails."),
      OptionAdvice("-i --input-file --input --format-in", say: "The rows come from standard input, as lines of JSON."),
    ],
    "cache": [
      OptionAdvice("--verbose -v", say: "'thumbs cache show URL' shows everything about one image."),
      OptionAdvice("-o --output --report", say: "The result goes to standard output."),
    ],
    "cache clear": [unconfirmed], "cache rm": [unconfirmed], "cache verify": [unconfirmed],
    "cache stats": [OptionAdvice("--verbose -v", say: "Did you mean '--json'? It has more numbers.")],
    "cache limit": [
      OptionAdvice(
        "--size --sizes --max-size --cache-size --limit --set -s",
        say: "The limit is an argument: thumbs cache limit 500MiB"),
      unconfirmed,
    ],
    "cache prune": [
      OptionAdvice("--size --sizes --limit -s", say: "Did you mean '--cache-size 500MiB'?"),
      OptionAdvice("--host --older-than --larger-than --state", say: "Did you mean '--filter older-than=30d'?"),
      OptionAdvice("--all -a", say: "To empty the cache, run 'thumbs cache clear'."),
      unconfirmed,
    ],
    "cache ls": [
      OptionAdvice("--host --older-than --larger-than --state", say: "Did you mean '--filter host=cdn.example'?")
    ],
    "report": [outputFile("summary")],
    "report summary": [outputFile("summary")],
    "report failed": [outputFile("failed")],
  ]

  /// The advice for the commands of the cache that change it.
  private static let unconfirmed = OptionAdvice(
    "--force --yes -f -y", say: "There is no confirmation; '--dry-run' shows what would change.")

  private static func outputFile(_ name: String) -> OptionAdvice {
    OptionAdvice(
      "-o --output --output-dir --out --report --summary",
      say: "The result goes to standard output: thumbs report \(name) report.jsonl > FILE")
  }
}
