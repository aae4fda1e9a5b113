import ArgumentParser

/// The help of the argument parser, in which each option has one short and one long name, and the usage is wrapped.
///
/// An option may have more names: older ones, and those of similar programs. Only the manual page lists them.
enum FullHelp {
  /// The column of the descriptions.
  private static let column = 26
  /// The maximum length of a line.
  private static let width = 80

  /// Returns `help` without further names of options. The first long name is the one to show.
  static func withoutAliases(_ help: String) -> String {
    var lines: [String] = []
    var pending: String?
    for line in help.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line.hasPrefix("USAGE: ") {
        lines += wrapped(line)
        continue
      }
      // The description of a long label begins on the next line.
      if let label = pending, line.hasPrefix(String(repeating: " ", count: column)) {
        lines.append(padded(label) + line.trimmingWhitespace())
        pending = nil
        continue
      }
      if let label = pending { lines.append(label) }
      pending = nil
      guard let (label, description) = shortened(line) else {
        lines.append(line)
        continue
      }
      if !description.isEmpty {
        lines.append(padded(label) + description)
      } else if label.count < column - 1 {
        pending = label
      } else {
        lines.append(label)
      }
    }
    return (lines + [pending].compactMap(\.self)).joined(separator: "\n")
  }

  /// Returns the message of an error with its usage and the help of its option wrapped. The first line, which may quote
  /// an argument, stays whole.
  static func withShortLines(_ message: String) -> String {
    let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return lines.flatMap { $0.hasPrefix("Usage: ") || $0.hasPrefix("Help: ") ? wrapped($0) : [$0] }
      .joined(separator: "\n")
  }

  /// Breaks a usage or a sentence between its arguments or words into lines of at most ``width`` characters.
  private static func wrapped(_ text: String) -> [String] {
    var lines: [String] = []
    for match in text.matches(of: #/(\s*)((?:\[[^\]]*\]|\S+)(?: \.\.\.)?)/#) {
      if let last = lines.popLast() {
        let isWithin = last.count + match.0.count <= width
        lines += isWithin ? ["\(last)\(match.0)"] : [last, "       \(match.2)"]
      } else {
        lines.append(String(match.0))
      }
    }
    return lines
  }

  private static func padded(_ label: String) -> String {
    label + String(repeating: " ", count: max(1, column - label.count))
  }

  /// Splits a line with several long names into its label, with the first of them only, and its description; nil for
  /// another line.
  private static func shortened(_ line: String) -> (label: String, description: String)? {
    let pattern = #/(\s\s(?:-\w, )*--[\w\-]+)(?:, --[\w\-]+)+(\s<[^>]*>)?\s*(.*)/#
    guard let match = line.wholeMatch(of: pattern) else { return nil }
    return (String(match.1) + String(match.2 ?? ""), String(match.3))
  }
}

/// The help on one screen: the page of `-h`, with the options that people use most.
enum ShortHelp {
  /// The help of `thumbs` and `thumbs fetch`.
  static let fetch = """
    thumbs: Download images, and write cached thumbnails and a report.

    Usage: thumbs [fetch] [<url, list, image or directory> ...] [<options>]
           thumbs retry <report.jsonl>       thumbs cache <subcommand>
           thumbs report <subcommand>        thumbs doctor

      -i, --input-file <file> Also read this list of URLs; - is standard input
      -o, --output <dir>      Output directory (default: ./thumbs)
      -s, --size <size>       256, 200x100, 200x, 64@2x, or several: 64,128
          --fit <fit>         inside, cover (crops), pad (adds borders) or stretch
          --format <format>   auto, jpeg, png, webp, avif, gif or smallest
      -j, --concurrency <n>   Maximum number of transfers at once (default: 16)
          --rate <rate>       Maximum rate of requests per host, such as 5/s
      -H, --header <field>    Header field to send with every request
          --report <file>     Write a line of JSON per row; - is standard output
          --gallery <file>    Write a page with all thumbnails and failures
      -n, --dry-run           Print the files that would be written
      -q, --quiet             Print errors only

    Examples:
      thumbs https://example.com/photo.jpg
      thumbs -s 64,128 -o icons apps.plist
    All options: thumbs fetch --help
    """

  /// The help of `thumbs retry`.
  static let retry = """
    thumbs retry: Retry the failed rows of a report.

    Usage: thumbs retry <report.jsonl> [<options>]

          --all-failed        Also retry permanent failures
      -o, --output <dir>      Output directory (default: as in the report)
      -j, --concurrency <n>   Maximum number of transfers at once (default: 16)
          --rate <rate>       Maximum rate of requests per host, such as 5/s
          --retries <n>       Maximum number of retries of each row (default: 3)
          --max-time <seconds>Maximum time for one attempt (default: 60)
      -H, --header <field>    Header field to send with every request
          --report <file>     Write a line of JSON per row; - is standard output
      -n, --dry-run           Print the files that would be written
      -q, --quiet             Print errors only

    Examples:
      thumbs retry report.jsonl
      thumbs retry --all-failed --retries 6 report.jsonl

    All options: thumbs retry --help
    """

  /// Returns the page for a command line with `-h`; nil without it, and for a command whose whole help is short.
  static func page(for arguments: [String]) -> String? {
    guard arguments.prefix(while: { $0 != "--" }).contains("-h") else { return nil }
    switch CalledCommand(arguments) {
    case .fetch: return fetch
    case .retry: return retry
    case .other: return nil
    }
  }
}

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
