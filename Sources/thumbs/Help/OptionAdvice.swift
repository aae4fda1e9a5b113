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

// MARK: Table

extension OptionAdvice {
  /// The advice for `fetch` and `retry`. The names are from aria2, curl, gallery-dl, ImageMagick, img2dataset, rclone,
  /// restic, vipsthumbnail, wget and xargs.
  static let all = inputs + thumbnails + outputs + transfers + trust + habits

  private static let inputs = [
    OptionAdvice(
      "--input --file --files --files-from --from-file --list --manifest --url-list --url_list --urls-file -K",
      use: "-i FILE", "A list may also be an argument: thumbs list.txt"),
    OptionAdvice("--url --urls --source --src", say: "URLs are arguments: thumbs https://example.com/photo.jpg"),
    OptionAdvice("--stdin", say: "A list on standard input is the argument '-'."),
    OptionAdvice("--url_col --url-col --column --key --field", use: "--url-column KEY"),
    OptionAdvice("--caption_col --name-col --caption-column --title-column", use: "--name-column KEY"),
    OptionAdvice(
      "--input_format --input-format", use: "--format-in FORMAT",
      "Without it, the extension or the content of a list decides."),
  ]

  private static let thumbnails = [
    OptionAdvice(
      "--width --height --resize --image_size --image-size --dimensions --thumbnail --thumbnail-size --max-size "
        + "--max-width --max-height --side --geometry -w -W -g",
      use: "-s, --size 256", "A size may also be a box: 200x100."),
    OptionAdvice("--scale --dpr --density --retina", use: "--size 64@2x"),
    OptionAdvice(
      "--crop --resize_mode --resize-mode --mode --cover -m",
      use: "--fit cover", "Its values are inside, cover, pad and stretch."),
    OptionAdvice("--smartcrop --smart-crop --smart --attention", use: "--gravity smart", "It needs --fit cover."),
    OptionAdvice(
      "--position --focus --focal-point --focalpoint --crop-position", use: "--gravity 30%,70%",
      "It needs --fit cover."),
    OptionAdvice("--contain --pad --letterbox --extent", use: "--fit pad"),
    OptionAdvice("--upscale --upsize --allow-upscale --magnify", use: "--enlarge"),
    OptionAdvice(
      "--without-enlargement --resize_only_if_bigger --no-upscale",
      say: "Images are enlarged only with --enlarge."),
    OptionAdvice("--bg --bgcolor --background-color --flatten", use: "--background RRGGBB"),
    OptionAdvice(
      "--type --ext --extension --output-format --output_format --encode_format --convert --to-format -f -F",
      use: "--format jpeg", "Its values are auto, jpeg, png, webp, avif and smallest."),
    OptionAdvice("--jpeg --jpg --png --webp --avif", use: "--format NAME"),
    OptionAdvice("--encode_quality --jpeg-quality --webp-quality --avif-quality --compression -Q", use: "--quality N"),
    OptionAdvice("--interlace --interlaced", use: "--progressive"),
    OptionAdvice("--thumbhash --blurhash --lqip --dominant-color", use: "--placeholders"),
    OptionAdvice("--interpolation --interpolator --resample --resampling", use: "--kernel NAME"),
    OptionAdvice("--iprofile --input-profile --import-profile --profile", use: "--cmyk-profile FILE.icc"),
    OptionAdvice("--eprofile --export-profile --output-profile", say: "Thumbnails are always in sRGB."),
    OptionAdvice("--strip --delete --no-metadata", say: "Thumbnails never contain metadata."),
    OptionAdvice("--rotate --auto-orient --no-rotate", say: "Thumbnails are always upright, as EXIF says."),
  ]

  private static let outputs = [
    OptionAdvice(
      "--out --outdir --out-dir --output-directory --output_folder --output-folder --output-path --outfile --dir "
        + "--directory --directory-prefix --dest --destination --target --to --save --save-to -d -D",
      use: "-o, --output DIR"),
    OptionAdvice("-P", say: "Did you mean '-o DIR' for the directory, or '-j N' for the transfers at once?"),
    OptionAdvice(
      "--template --pattern --filename --file-name --rename --remote-name --output-document --prefix --suffix -O",
      use: "--name-template '{stem}-{spec}.{ext}'", "By default, names are made from URLs."),
    OptionAdvice("--force --allow-overwrite --clobber -f -y", use: "--overwrite"),
    OptionAdvice(
      "--no-clobber --ignore-existing -c -C --continue --continue-at --resume --incremental --incremental_mode",
      use: "--skip-existing"),
    OptionAdvice(
      "-N --timestamping --update -u",
      say: "It is not needed: only what has changed is downloaded and written."),
    OptionAdvice("--create-dirs --mkdir", say: "Directories are created without an option."),
    OptionAdvice(
      "--log --log-file --logfile --write-out --dump-header --json --output-json --results --errors --report-file",
      use: "--report FILE", "It has a line of JSON per row."),
    OptionAdvice("--stats --statistics", use: "--summary FILE"),
    OptionAdvice("--prometheus --textfile --metrics-file", use: "--metrics FILE.prom"),
    OptionAdvice("--placeholder --default-image --fallback-image --on-error", use: "--fallback FILE"),
    OptionAdvice("--html --index --page --contact-sheet --gallery-file", use: "--gallery FILE.html"),
    OptionAdvice("--silent --no-progress-meter --no-progress -S", use: "-q, --quiet"),
    OptionAdvice("--debug --trace --loud -vv", use: "-v, --verbose"),
    OptionAdvice("--progress-bar -#", use: "--progress bar"),
    OptionAdvice("--simulate --just-print --what-if --spider --test --pretend --list-only", use: "-n, --dry-run"),
    OptionAdvice("--repo --repository --cache --cache-directory -r", use: "--cache-dir DIR"),
  ]

  private static let transfers = [
    OptionAdvice(
      "--jobs --parallel --parallel-max --threads --num-threads --workers --transfers --concurrent --connections "
        + "--max-concurrent-downloads --processes --processes_count --thread_count --checkers -p -Z -t",
      use: "-j, --concurrency N"),
    OptionAdvice("--max-connection-per-server --max-connections-per-host --per-server --split", use: "--per-host N"),
    OptionAdvice(
      "--delay --sleep --sleep-request --wait --random-wait --interval --tpslimit --rps --requests-per-second "
        + "--rate-limit --limit-requests",
      use: "--rate 5/s"),
    OptionAdvice(
      "--limit-rate --bwlimit --max-download-limit --max-overall-download-limit --limit-download",
      say: "The bytes per second have no limit; '--rate 5/s' limits the requests per host."),
    OptionAdvice("--tries --max-tries --attempts --low-level-retries --retry-count --max-retries", use: "--retries N"),
    OptionAdvice("--retry-delay --retry-wait --waitretry", use: "--max-wait SECONDS", "Retries wait longer each time."),
    OptionAdvice(
      "--retry-all-errors --retry-failed --retry-connrefused",
      say: "To try failed rows again, run 'thumbs retry --all-failed REPORT'."),
    OptionAdvice("--contimeout --dns-timeout --timeout-connect", use: "--connect-timeout SECONDS"),
    OptionAdvice("--read-timeout --response-timeout --ttfb", use: "--first-byte-timeout SECONDS"),
    OptionAdvice("--max-duration --retry-max-time --deadline --stop", use: "--max-run-time SECONDS"),
    OptionAdvice("--max-transfer --quota", use: "--max-run-bytes SIZE"),
    OptionAdvice("--max-file-size --limit --max-length", use: "--max-bytes SIZE"),
    OptionAdvice(
      "--location --follow --follow-redirects --max-redirect --no-follow -L",
      use: "--max-redirects N", "Redirects are followed without an option; 0 follows none."),
    OptionAdvice("--robots-txt --obey-robots --disallowed_header_directives", use: "--robots"),
  ]

  private static let trust = [
    OptionAdvice(
      "--insecure --no-check-certificate --check-certificate --no-verify --no-verify-ssl --skip-verify --verify "
        + "--insecure-tls --tls-verify -k",
      use: "--insecure-host HOST", "Certificates are left unverified only for hosts that are named."),
    OptionAdvice(
      "--ca-certificate --ca-certificates --ca-cert --ca-file --ca-bundle --ca-path --ca-directory --cafile --capath",
      use: "--cacert FILE.pem"),
    OptionAdvice("--cookie --cookies --cookie-jar --load-cookies -b", use: "--cookie-file FILE"),
    OptionAdvice("--cert --client-cert -E", say: "Client certificates are not supported."),
    OptionAdvice(
      "--proxy --all-proxy --http-proxy --https-proxy --noproxy --no-proxy -x",
      say: "Proxies are set by the environment: https_proxy, http_proxy, all_proxy and no_proxy."),
    OptionAdvice(
      "--user --http-user --login --password --auth", say: "Did you mean '--netrc'? A URL may have a user, too."),
    OptionAdvice("--headers --add-header --http-header", use: "-H, --header 'Name: value'"),
    OptionAdvice("--agent --ua --user_agent --user_agent_token -U", use: "-A, --user-agent TEXT"),
    OptionAdvice("--private --block-private --no-private", use: "--public-only"),
    OptionAdvice("--local --local-files --file-urls", use: "--allow-file"),
  ]

  /// Options whose effect is a habit of other programs.
  private static let habits = [
    OptionAdvice("--request --data --form -X -T --upload-file", say: "Images are always requested with GET."),
    OptionAdvice("--head -I", say: "To see what is in the cache, run 'thumbs cache show URL'."),
    OptionAdvice("--recursive --mirror --page-requisites", say: "Pages are not searched for images; give their URLs."),
    OptionAdvice(
      "--fail --fail-early --fail-with-body",
      say: "Error responses always fail their rows; '--fail-on' is about images."),
    OptionAdvice("--clear-cache --purge", say: "To empty the cache, run 'thumbs cache clear'."),
    OptionAdvice(
      "--config --config-file --configuration --conf",
      say: "The environment names the configuration file: THUMBS_CONFIG=FILE thumbs list.txt"),
    OptionAdvice("-V", say: "To print the version, run 'thumbs --version'."),
    OptionAdvice("--compressed", say: "Compressed responses are decoded without an option."),
  ]
}

/// Advice for values that other programs accept.
private enum ValueAdvice {
  /// The values to use, by the names of the options and the given values.
  private static let table = [
    "--fit": [
      "crop": "cover", "fill-crop": "cover", "smart": "cover", "thumb": "cover", "max": "inside", "scale": "inside",
      "outside": "cover", "exact": "stretch", "ignore": "stretch", "force": "stretch", "letterbox": "pad",
    ],
    "--format": ["keep": "auto", "source": "auto", "original": "auto", "best": "smallest"],
  ]

  /// Returns `message` of the argument parser with the value to use, if it is about one in the table.
  static func improve(_ message: String) -> String {
    let pattern = #/Error: The value '(?<value>[^'\n]*)' is invalid for '(?<option>--[a-z\-]+) <[^>]*>'\./#
    guard let match = message.prefixMatch(of: pattern),
      let meant = table[String(match.option)]?[match.value.lowercased()]
    else { return message }
    return String(message[match.range]) + " Did you mean '\(meant)'?" + message[match.range.upperBound...]
  }
}
