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
    // By default, glibc soon keeps freed blocks of up to 32 MiB, each thread its own: 100 MB in a run of large images.
    mallopt(M_MMAP_THRESHOLD, 1 << 20)
    // The fixed threshold also fixes this one, at 128 KiB: heaps would shrink and grow with each image, and the page
    // faults would take a quarter of the time of icons.
    mallopt(M_TRIM_THRESHOLD, 8 << 20)
    let arguments = Array(all.dropFirst())
    if let help = ShortHelp.page(for: arguments) {
      print(help)
      StandardStreams.end(.success)
    }
    var command: (any ParsableCommand)?
    do {
      try requireUTF8()
      let environment = ProcessInfo.processInfo.environment
      command = try parseAsRoot(Configuration.merge(arguments, environment: environment))
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
