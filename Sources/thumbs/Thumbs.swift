import ArgumentParser
import BatchFetch
import CMalloc

@main
struct Thumbs: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "thumbs",
    abstract: "Download images, each only once, and write cached thumbnails and a report.",
    discussion: """
      Examples:
        thumbs apps.plist
        thumbs --gallery apps.html apps.plist
        thumbs cache stats
        thumbs doctor
      """,
    version: Downloader.version,
    subcommands: [FetchCommand.self, RetryCommand.self, CacheCommand.self, DoctorCommand.self],
    defaultSubcommand: FetchCommand.self)

  /// Runs the subcommand that the arguments select, then ends the process with its exit code.
  static func main() {
    StandardStreams.open()
    // By default, glibc soon keeps freed blocks of up to 32 MiB, each thread its own: 100 MB in a run of large images.
    mallopt(M_MMAP_THRESHOLD, 1 << 20)
    // The fixed threshold also fixes this one, at 128 KiB: heaps would shrink and grow with each image, and the page
    // faults would take a quarter of the time of icons.
    mallopt(M_TRIM_THRESHOLD, 8 << 20)
    do {
      var command = try parseAsRoot()
      // The doctor reports too low a limit instead.
      if !(command is DoctorCommand) { try DescriptorLimit.require() }
      try command.run()
      StandardStreams.end(.success)
    } catch {
      let (message, code) = (fullMessage(for: error), exitCode(for: error))
      // Help goes to standard output unchanged. An error may quote an argument, which may hold credentials.
      if !message.isEmpty, code.isSuccess { print(message) }
      if !message.isEmpty, !code.isSuccess { printToStandardError(Redaction.message(message)) }
      StandardStreams.end(code)
    }
  }
}
