import ArgumentParser
import Testing

@testable import thumbs

@Suite struct SubcommandAdviceTests {
  /// Returns the first line of the message for the command line `words`.
  private func message(_ words: String) -> String {
    let arguments = words.split(separator: " ").map(String.init)
    do {
      _ = try Thumbs.parseAsRoot(arguments)
      return "none"
    } catch {
      let message = OptionAdvice.improve(Thumbs.fullMessage(for: error), arguments: arguments)
      return String(message.prefix { $0 != "\n" })
    }
  }

  @Test(arguments: [
    ("cache list", "Unexpected argument 'list'. Did you mean 'thumbs cache ls'?"),
    ("cache info", "Unexpected argument 'info'. Did you mean 'thumbs cache stats'?"),
    ("cache purge", "'thumbs cache prune'?"),
    ("cache purge", "'thumbs cache clear', which removes everything"),
    ("cache stat", "Did you mean 'thumbs cache stats'?"),
    ("cache list x", "'list', 'x'. Did you mean 'thumbs cache ls'?"),
    ("cache list --nope", "Did you mean 'thumbs cache ls'?"),
    (
      "report r.jsonl", "Unexpected argument 'r.jsonl'. Did you mean 'thumbs report summary r.jsonl', or 'thumbs report"
    ),
    ("report -", "'thumbs report summary -'"), ("report failures r.jsonl", "Did you mean 'thumbs report failed FILE'?"),
  ])
  func `A subcommand of another name gets the one that is meant`(words: String, advice: String) {
    #expect(message(words).contains(advice), "\(message(words))")
  }

  @Test(arguments: [
    ("doctor --verbose", "Every check is shown without an option."),
    ("cache stats --verbose", "Did you mean '--json'?"),
    ("report failed r.jsonl -o x", "thumbs report failed report.jsonl > FILE"),
    ("cache limit --size 5GiB", "The limit is an argument: thumbs cache limit 500MiB"),
    ("cache clear --force", "There is no confirmation"), ("cache clear --yes", "There is no confirmation"),
    ("cache prune --size 5", "Did you mean '--cache-size 500MiB'?"),
    ("cache ls --state x", "'--filter host=cdn.example'"), ("cache rm x -f", "'--dry-run' shows what would change"),
    ("cache --cache-dir /x ls", "Put it after the subcommand: thumbs cache ls --cache-dir DIR"),
    ("cache --cache-dir /x", "Put it after the subcommand: thumbs cache stats --cache-dir DIR"),
    ("cache --json", "Put it after the subcommand: thumbs cache stats --json"),
    ("report --output x.txt r.jsonl", "The result goes to standard output: thumbs report summary report.jsonl > FILE"),
  ])
  func `An option that a command lacks gets advice for that command`(words: String, advice: String) {
    #expect(message(words).hasPrefix("Error: Unknown option '-"))
    #expect(message(words).contains(advice), "\(message(words))")
  }

  @Test(arguments: ["stats", "show x"])
  func `No command is advised to use an option that it lacks`(command: String) {
    #expect(message("cache \(command) --force") == "Error: Unknown option '--force'")
  }

  @Test(.timeLimit(.minutes(10))) func `A long argument resembles no subcommand, and takes no long time`() {
    let word = String(repeating: "l", count: 200_000)
    #expect(message("cache \(word)") == "Error: Unexpected argument '\(word)'")
  }

  @Test(arguments: ["cache nope", "report nope"])
  func `An argument that resembles no subcommand gets no advice`(words: String) {
    #expect(message(words) == "Error: Unexpected argument 'nope'")
  }

  @Test func `Every subcommand and option that is advised exists, and no name does`() throws {
    for path in ["cache", "report"] {
      let advice = SubcommandAdvice.names(of: path)
      #expect(advice.count > 3)
      let command = try #require(CommandCall.subcommand(path, of: Thumbs.self))
      let known = command.configuration.subcommands.compactMap { $0.configuration.commandName }
      #expect(advice.flatMap(\.names).filter(known.contains) == [])
      let named = advice.flatMap { $0.text.matches(of: #/'thumbs (?:cache|report) ([a-z]+)/#).map { String($0.1) } }
      #expect(named.filter { !known.contains($0) } == [])
    }
    let fetching = ["fetch", "subcommands", "values"]
    let parts = OptionAdvice.parts.filter { part in !fetching.contains { part.key.contains($0) } }
    #expect(parts.count > 10)
    for (path, advice) in parts {
      let words = path.split(separator: " ").map(String.init)
      let first = try #require(CommandCall.subcommand(words[0], of: Thumbs.self))
      let command = try words.count == 1 ? first : #require(CommandCall.subcommand(words[1], of: first))
      let known = CommandOptions(command).names

      #expect(advice.flatMap(\.names).filter(known.contains) == [], "\(path)")
      #expect(advice.flatMap(\.mentioned).filter { !known.contains($0) } == [], "\(path)")
    }
  }
}
