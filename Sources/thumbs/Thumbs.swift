import ArgumentParser
import BatchFetch

@main
struct Thumbs: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "thumbs",
    abstract: "Thumbnails of pictures on the network: each downloaded once, cached, and accounted for.",
    discussion: """
      Examples:
        thumbs apps.plist
        thumbs --gallery apps.html apps.plist
        thumbs cache stats
      """,
    version: Downloader.version,
    subcommands: [FetchCommand.self, RetryCommand.self, CacheCommand.self],
    defaultSubcommand: FetchCommand.self)

  /// Runs the command that the arguments name, and ends the process with its exit code.
  static func main() {
    StandardStreams.open()
    do {
      var command = try parseAsRoot()
      try command.run()
      StandardStreams.end(.success)
    } catch {
      let (message, code) = (fullMessage(for: error), exitCode(for: error))
      // Help goes to standard output as it is. An error may quote text that a script or a web page put into an argument.
      if !message.isEmpty, code.isSuccess { print(message) }
      if !message.isEmpty, !code.isSuccess { printToStandardError(Redaction.message(message)) }
      StandardStreams.end(code)
    }
  }
}
