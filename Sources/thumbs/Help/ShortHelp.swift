/// The help on one screen: the page of `-h`, with the options that people use most.
enum ShortHelp {
  /// The help of `thumbs` and `thumbs fetch`.
  static let fetch = """
    thumbs: Download images, and write cached thumbnails and a report.

    Usage: thumbs [fetch] [<url or list> ...] [<options>]
           thumbs retry <report.jsonl>       thumbs cache <subcommand>
           thumbs report <subcommand>        thumbs doctor

      -i, --input-file <file> Also read this list of URLs; - is standard input
      -o, --output <dir>      Output directory (default: ./thumbs)
      -s, --size <size>       256, 200x100, 64@2x, or several: 64,128
          --fit <fit>         inside, cover (crops), pad (adds borders) or stretch
          --format <format>   auto, jpeg, png, webp, avif or smallest
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
