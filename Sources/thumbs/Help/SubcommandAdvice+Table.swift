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
