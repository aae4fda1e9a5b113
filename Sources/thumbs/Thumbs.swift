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
}
