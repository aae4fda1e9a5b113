import ArgumentParser
import Glibc
import Synchronization

/// `thumbs report merge`: combines the reports of the shards of a run, and proves that every row is there.
struct ReportMergeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Combine reports, such as those of shards, into one with every row exactly once.",
    discussion: """
      If a row has several lines, as after a shard was run again, one is kept: ok before failed, failed before \
      canceled, and among equals the last. Rows that have several lines, and rows that have none, are listed on \
      standard error. Reports of shards contain the number of rows. For others, give it with --rows, or rows that are \
      missing at the end of the list go unnoticed.

      Examples:
        thumbs report merge 1.jsonl 2.jsonl 3.jsonl -o all.jsonl
        thumbs report merge --rows 1000 --summary merge.json -o all.jsonl old.jsonl new.jsonl

      The exit status is 0 if every row is there, and 65 if a row is missing or the reports cannot be read or do not \
      belong together.
      """)

  @Argument(help: ArgumentHelp("Reports; - is standard input. Each may be compressed with gzip."), completion: .file())
  var reports: [String]

  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("output")],
    help: ArgumentHelp("File for the combined report; - is standard output.", valueName: "file"),
    completion: .file())
  var output = "-"

  @Option(
    help: ArgumentHelp("Number of rows that must be there. (default: as in the reports)", valueName: "n"),
    transform: { try ReportMergeCommand.number($0) })
  var rows: Int?

  @Option(
    help: ArgumentHelp(
      "Write the counts, and all rows with several lines or none, to this file as a JSON object.", valueName: "file"),
    completion: .file())
  var summary: String?

  @Flag(help: "Also overwrite files that are no report or summary of thumbs.")
  var overwrite = false

  /// Rejects more reports than can be told apart, and two uses of standard output.
  func validate() throws {
    if reports.count > Int(UInt16.max) { throw ValidationError("Give at most \(UInt16.max) reports.") }
    if reports.count(where: { $0 == "-" }) > 1 {
      throw ValidationError("Standard input can be read only once; give - only once.")
    }
    if output == "-", summary == "-" {
      throw ValidationError("--output and --summary cannot both be standard output; give one of them a file.")
    }
  }

  func run() throws {
    do {
      try merge()
    } catch let error as InputError {
      throw ExitCode.dataError.printing(error)
    } catch let error as OutputError {
      throw (error.action == .create ? ExitCode.cannotCreate : .ioError).printing(error)
    }
  }

  private func merge() throws {
    let sources = try reports.map { try ReportSource(path: $0) }
    let files = try MergeFiles(output: output, summary: summary, sources: sources, mayReplaceAny: overwrite)
    do {
      let merged = try resolve(sources)
      let exit = merged.isComplete ? ExitCode.success : .dataError
      try files.write(merged, from: sources, exit: exit)
      for line in merged.text(reports: sources.count) { Self.print(line) }
      if exit != .success { throw exit }
    } catch {
      if !(error is ExitCode) { files.discard() }
      throw error
    }
  }

  /// Reads all reports and chooses the lines to keep.
  private func resolve(_ sources: [ReportSource]) throws(InputError) -> MergedReports {
    var (merge, list) = (ReportMerge(), MergedList(rows: rows))
    for (number, source) in sources.enumerated() {
      var reader = ReportReader(try source.lines())
      while let line = try reader.next() {
        guard merge.add(line.row, number: line.number, report: number) else {
          throw InputError(source.name, at: .line(line.number), "the index is out of range")
        }
      }
      if reader.isCut { Self.print("\(source.name): The last line is not finished and is ignored.") }
      try list.add(reader, name: source.name)
    }
    do throws(ReportMerge.Failure) {
      return try merge.resolve(list)
    } catch {
      throw Self.error(error, sources, total: list.rows ?? 0)
    }
  }

  private static func error(_ flaw: ReportMerge.Failure, _ sources: [ReportSource], total: Int) -> InputError {
    switch flaw {
    case .beyondEnd(let index, let report):
      return InputError(sources[report].name, "has a row \(index), but the list has only \(total) rows, from 0")
    case .differentURLs(let index, let reports):
      let names = reports.map { sources[$0].name }
      let reason = "row \(index) has another URL in \(names[1]); these are reports of different lists"
      return InputError(names[0], reason)
    }
  }

  private static func print(_ line: String) {
    ProgressOutput.standardError.write("thumbs: \(line.printable)\n")
  }

  private static func number(_ text: String) throws -> Int {
    guard let number = Int(text), (0...ReportMerge.indexLimit).contains(number) else {
      throw ValidationError("give a number of rows such as 1000000")
    }
    return number
  }
}

/// A report that is read twice. One that cannot be, such as a pipe, is copied to a file without a name first.
struct ReportSource: Sendable {
  /// The path, or `standard input`.
  let name: String
  private let path: String
  private let version: FileVersion?
  private let copy: NamedFile?

  /// Opens the report at `path`, which may be compressed with gzip; `-` is standard input.
  ///
  /// - Throws: A `InputError` if it cannot be read, and an `OutputError` if it cannot be copied.
  init(path: String) throws {
    let source = try ByteSource.open(path, expecting: "a report")
    (name, self.path) = (source.name, path)
    version = path == "-" ? nil : FileVersion(path: path)
    guard path == "-" || !source.isFile else {
      copy = nil
      return
    }
    let file = NamedFile(descriptor: try FileDescriptor.unnamedFile(in: "/tmp"), name: source.name)
    var chunk = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = try chunk.withUnsafeMutableBytes { try source.read($0) }
      if count == 0 { break }
      try FileDescriptor.write(chunk[..<count], to: file.descriptor, path: "a copy of \(source.name)")
    }
    copy = file
  }

  /// The identity of the file; nil if it is not a regular file.
  var identity: FileIdentity? { path == "-" ? FileIdentity(descriptor: STDIN_FILENO) : FileIdentity(path: path) }

  /// Returns the lines from the beginning.
  ///
  /// - Throws: A `InputError` if the file has changed since it was opened.
  func lines() throws(InputError) -> LineReader {
    let source: ByteSource
    if let copy {
      source = Self.bytes(of: copy)
    } else {
      source = try .open(path, expecting: "a report")
      guard FileVersion(path: path) == version else { throw InputError(name, "was changed while it was read") }
    }
    return LineReader(source.unpacked(), longestLine: ReportReader.longestLine)
  }

  /// Calls `body` with the lines whose numbers are in `numbers`, which ascend.
  ///
  /// - Throws: A `InputError` if the report does not have them anymore.
  func forEach(of numbers: [UInt32], _ body: ([UInt8]) throws -> Void) throws {
    var (rest, lines) = (numbers[...], try lines())
    while let next = rest.first {
      guard let line = try lines.next(), line.number <= Int(next) else {
        throw InputError(name, "was changed while it was read")
      }
      guard line.number == Int(next) else { continue }
      try body(line.bytes ?? [])
      rest.removeFirst()
    }
  }

  private static func bytes(of file: NamedFile) -> ByteSource {
    let offset = Atomic(0)
    return ByteSource(name: file.name, isFile: true) { buffer throws(InputError) in
      let count = pread(file.descriptor, buffer.baseAddress, buffer.count, offset.load(ordering: .relaxed))
      guard count >= 0 else { throw InputError(file.name, "cannot be read: \(String(cString: strerror(errno)))") }
      offset.add(count, ordering: .relaxed)
      return count
    }
  }
}
