import ArgumentParser
import BatchFetch
import CDecoder
import CGlibc
import Foundation
import Glibc

@main
struct Thumbs: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "thumbs",
    abstract: "Download images, each only once, and write cached thumbnails and a report.",
    discussion: """
      Examples:
        thumbs https://example.com/photo.jpg
        thumbs apps.plist
        thumbs --gallery apps.html apps.plist
        thumbs cache stats
        thumbs doctor
      """,
    version: Downloader.version,
    subcommands: [
      FetchCommand.self, RetryCommand.self, ReportCommand.self, WorkerCommand.self, CacheCommand.self,
      DoctorCommand.self,
    ],
    defaultSubcommand: FetchCommand.self)

  /// Runs the subcommand that the arguments select, then ends the process with its exit code.
  static func main() {
    let all = processArguments.map { $0.map { String(cString: $0) } ?? "" }
    if all.first == RenderProcess.name { Glibc.exit(RenderProcess.run()) }
    StandardStreams.open()
    tuneMalloc()
    let arguments = Array(all.dropFirst())
    if let help = ShortHelp.page(for: arguments) {
      print(help)
      StandardStreams.end(.success)
    }
    var command: (any ParsableCommand)?
    do {
      try requireUTF8()
      let environment = ProcessInfo.processInfo.environment
      command = try parseCall(Configuration.merge(arguments, environment: environment))
      // The doctor reports too low a limit instead.
      if !(command is DoctorCommand) { try DescriptorLimit.require() }
      try command?.run()
      StandardStreams.end(.success)
    } catch let error as ConfigurationError {
      printToStandardError("Error: \(Redaction.message("\(error)"))")
      StandardStreams.end(.validationFailure)
    } catch {
      let (message, code) = (CommandUsage.message(for: error, in: command), exitCode(for: error))
      // Help goes to standard output unchanged. An error may quote an argument, which may hold credentials.
      if !message.isEmpty, code.isSuccess { print(FullHelp.withoutAliases(message)) }
      if !message.isEmpty, !code.isSuccess {
        let improved = OptionAdvice.improve(message, arguments: arguments)
        printToStandardError(FullHelp.withShortLines(Redaction.message(improved)))
      }
      StandardStreams.end(code)
    }
  }

  /// Parses a command line. The parser prepares the options of a command several times if it begins at the root, so it
  /// begins at the command. An error is that of the parser from the root, whose messages name the whole command.
  static func parseCall(_ arguments: [String]) throws -> any ParsableCommand {
    if let call = CommandCall(arguments), let command = try? call.command.parseAsRoot(call.arguments) { return command }
    return try parseAsRoot(arguments)
  }

  /// Limits the freed memory that glibc keeps. `MALLOC_ARENA_MAX` of the environment goes before the number of arenas.
  private static func tuneMalloc() {
    // By default, glibc soon keeps freed blocks of up to 32 MiB, each thread its own: 100 MB in a run of large images.
    mallopt(M_MMAP_THRESHOLD, 1 << 20)
    // The fixed threshold also fixes this one, at 128 KiB: heaps would shrink and grow with each image, and the page
    // faults would take a quarter of the time of icons.
    mallopt(M_TRIM_THRESHOLD, 2 << 20)
    // Each arena keeps memory that was freed, and by default there are eight per processor: 100,000 rows would take a
    // fifth more. With fewer than one per processor, threads would wait, and cached rows would take a quarter longer.
    if getenv("MALLOC_ARENA_MAX") == nil {
      mallopt(M_ARENA_MAX, Int32(max(1, ProcessInfo.processInfo.activeProcessorCount)))
    }
  }

  private static var processArguments: UnsafeBufferPointer<UnsafeMutablePointer<CChar>?> {
    UnsafeBufferPointer(start: process_arguments(), count: Int(process_argument_count()))
  }

  /// Throws if an argument is not UTF-8. Its bytes would be replaced, and name another file.
  private static func requireUTF8() throws {
    for (place, argument) in processArguments.enumerated() {
      guard let argument, String(validatingCString: argument) == nil else { continue }
      let text = String(cString: argument).printable
      throw ValidationError(
        "Argument \(place), '\(text)', is not UTF-8. Use a link with another name, or standard input.")
    }
  }
}

/// A command line, as the command that it calls and the arguments of that.
struct CommandCall: Sendable {
  /// The words that select the command.
  let path: [String]
  /// The command, which has no subcommands.
  let command: any ParsableCommand.Type
  /// The arguments after the path.
  let arguments: [String]

  /// Finds the command that `arguments` call; nil for a group of commands, help, version and completions.
  init?(_ arguments: [String]) {
    guard !arguments.prefix(while: { $0 != "--" }).contains(where: Self.isAboutCommand) else { return nil }
    var (path, command): ([String], any ParsableCommand.Type) = ([], Thumbs.self)
    while path.count < arguments.count, let next = Self.subcommand(arguments[path.count], of: command) {
      path.append(arguments[path.count])
      command = next
    }
    self.arguments = Array(arguments.dropFirst(path.count))
    if path.isEmpty, arguments.first != "help" { (path, command) = (["fetch"], FetchCommand.self) }
    guard command.configuration.subcommands.isEmpty else { return nil }
    (self.path, self.command) = (path, command)
  }

  /// Returns the subcommand of `command` called `name`.
  static func subcommand(_ name: String, of command: any ParsableCommand.Type) -> (any ParsableCommand.Type)? {
    command.configuration.subcommands.first { $0.configuration.commandName == name }
  }

  private static func isAboutCommand(_ argument: String) -> Bool {
    ["-h", "--help", "--help-hidden", "--version", "--generate-completion-script"].contains(argument)
      || argument.hasPrefix("--experimental-") || argument.hasPrefix("---")
  }
}
