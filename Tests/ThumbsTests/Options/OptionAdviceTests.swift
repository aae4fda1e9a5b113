import ArgumentParser
import Testing

@testable import thumbs

@Suite struct OptionAdviceTests {
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
    ("--out x", "-o, --output DIR"), ("--dest x", "-o, --output DIR"), ("--output_folder x", "-o, --output DIR"),
    ("--directory-prefix x", "-o, --output DIR"), ("-d x", "-o, --output DIR"), ("-P x", "'-o DIR'"), ("-P4", "'-j N'"),
    ("--width 64", "-s, --size 256"), ("--height 64", "--size"), ("--resize 64", "--size"),
    ("--image_size 64", "--size"),
    ("--smartcrop x", "--gravity smart"), ("--focal-point x", "--gravity 30%,70%"), ("--upscale", "--enlarge"),
    ("--density 2", "--size 64@2x"),
    ("--jobs 8", "-j, --concurrency N"), ("--parallel", "--concurrency"), ("--transfers 8", "--concurrency"),
    ("--max-concurrent-downloads 8", "--concurrency"), ("--thread_count 8", "--concurrency"),
    ("--max-connection-per-server=4", "--per-host N"), ("--tries 3", "--retries N"), ("--max-tries 3", "--retries N"),
    ("--wait 1", "--rate 5/s"), ("--tpslimit 5", "--rate 5/s"), ("--bwlimit 1M", "--rate 5/s"),
    ("--insecure", "--insecure-host HOST"), ("-k", "--insecure-host HOST"),
    ("--no-check-certificate", "--insecure-host HOST"), ("-L", "--max-redirects N"), ("-O x", "--name-template"),
    ("--proxy p", "https_proxy"), ("-X POST", "GET"), ("--continue", "--skip-existing"), ("-C -", "--skip-existing"),
    ("-c", "--skip-existing"), ("--no-clobber", "--skip-existing"),
    ("--force", "--overwrite"), ("--input x", "-i FILE"),
    ("--url_list x", "-i FILE"), ("--url_col x", "--url-column KEY"), ("--files-from x", "-i FILE"),
    ("--url https://x", "URLs are arguments"), ("--log x", "--report FILE"), ("--silent", "-q, --quiet"),
    ("--spider", "-n, --dry-run"), ("--repo x", "--cache-dir DIR"), ("--strip", "never contain metadata"),
    ("--eprofile x", "--color p3"), ("--max-duration 5", "--max-run-time"), ("--quota 5", "--max-run-bytes"),
    ("--user a:b", "--netrc"), ("--encode_quality 9", "--quality N"), ("--agent x", "--user-agent TEXT"),
    ("--contimeout 5", "--connect-timeout"), ("--headers x", "-H, --header"), ("--cookies x", "--cookie-file FILE"),
    ("-b x", "--cookie-file FILE"), ("--load-cookies x", "--cookie-file FILE"), ("--cafile x", "--cacert FILE.pem"),
    ("--ca-certificate x", "--cacert"), ("--capath x", "--cacert"), ("--ca-bundle x", "--cacert"),
    ("--config x", "THUMBS_CONFIG=FILE thumbs"), ("--config=x", "THUMBS_CONFIG=FILE thumbs"),
    ("--report-file x", "--report FILE"), ("--gallery-file x", "--gallery FILE.html"), ("--cache x", "--cache-dir DIR"),
    ("-V", "thumbs --version"), ("--SIZE 8", "Did you mean '--size'?"), ("--save x", "-o, --output DIR"),
  ])
  func `The advice for an unknown option follows from its meaning`(option: String, advice: String) {
    let name = option.prefix { $0 != " " && $0 != "=" }
    // The advice is the same with and without the subcommand, so each is tested with a half of the options.
    let command = option.utf8.count.isMultiple(of: 2) ? "" : "fetch "

    let message = message("\(command)list.txt \(option)")

    #expect(message.hasPrefix("Error: Unknown option '\(name)'. ") && message.contains(advice), "\(message)")
  }

  @Test(arguments: [
    ("--galery x", "Did you mean '--gallery'?"), ("--sise 4", "Did you mean '--size'?"),
    ("--concurency 4", "Did you mean '--concurrency'?"), ("--nam x", "Did you mean '--name-template'?"),
  ])
  func `A typing error gets the name with similar letters`(option: String, advice: String) {
    #expect(message("list.txt \(option)").hasSuffix(advice))
  }

  @Test(arguments: [
    ("--fit crop", "'--fit <fit>'. Did you mean 'cover'? Please provide one of 'inside'"),
    ("--fit=CROP", "Did you mean 'cover'?"), ("--format best", "Did you mean 'smallest'?"),
    ("--format tiff", "'--format <format>'. Please provide one of the following:"),
  ])
  func `A value of another program gets the one to use`(option: String, advice: String) {
    #expect(message("list.txt \(option)").contains(advice), "\(message("list.txt \(option)"))")
  }

  @Test(arguments: ["--zzz", "--qwertz", "-Y"])
  func `An option that resembles none gets no advice`(option: String) {
    #expect(message("list.txt \(option)") == "Error: Unknown option '\(option)'")
  }

  @Test(arguments: [
    ("retry r.jsonl --size 64", "for the rows of --list; without it, retry uses the settings in the report."),
    ("retry r.jsonl --shard 1/2", "It is an option of 'thumbs fetch'; retry uses the settings in the report."),
    ("retry r.jsonl --jobs 64", "Did you mean '-j, --concurrency N'?"),
    ("retry r.jsonl --width 3", "Did you mean '-s, --size 256'? A size may also be a box: 200x100."),
    (
      "retry r.jsonl --files-from x",
      "It is '-i FILE' in 'thumbs fetch'; retry uses the rows, names and settings in the report."
    ),
    ("retry r.jsonl --name x", "for the rows of --list; without it, retry uses the settings in the report."),
    ("retry r.jsonl --SIZE 3", "Did you mean '--size'?"),
    ("cache ls --gallery x", "It is an option of 'thumbs fetch'."), ("cache ls --jsn", "Did you mean '--json'?"),
  ])
  func `The advice depends on the command`(words: String, advice: String) {
    #expect(message(words).hasSuffix(advice), "\(message(words))")
  }

  @Test func `The advice for a retry names no option that it lacks`() {
    let names = OptionAdvice.all.flatMap(\.names)
    let known = CommandOptions(RetryCommand.self).names
    let advice = names.compactMap { OptionAdvice.advice(for: $0, in: .retry) }.filter {
      !$0.contains("in 'thumbs fetch'")
    }
    let named = advice.flatMap(OptionAdvice.options(in:))

    #expect(names.allSatisfy { OptionAdvice.advice(for: $0, in: .retry) != nil })
    #expect(Set(named).subtracting(known) == ["--version"])
  }

  @Test func `No advice is for an option that exists, and every advised option exists`() {
    let known = CommandOptions(FetchCommand.self).names.union(CommandOptions(RetryCommand.self).names)
    let names = OptionAdvice.all.flatMap(\.names)

    #expect(known.count > 60 && CommandOptions(FetchCommand.self).names.isSuperset(of: ["-j", "--size", "--quiet"]))
    // The advice for fetch: only retry has this option.
    #expect(names.filter(known.contains) == ["--list"])
    #expect(Dictionary(grouping: names) { $0 }.filter { $1.count > 1 && $0 != "-f" }.keys.sorted() == [])
    let advised = OptionAdvice.all.flatMap(\.mentioned)
    #expect(advised.count > 50 && advised.filter { !known.contains($0) && $0 != "--version" } == [])
  }
}
