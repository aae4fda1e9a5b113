import ArgumentParser
import BatchFetch

@main
struct Thumbs: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "thumbs",
    abstract: "Thumbnails of pictures on the network: each downloaded once, cached, and accounted for.",
    version: Downloader.version,
    subcommands: [FetchCommand.self, RetryCommand.self, CacheCommand.self],
    defaultSubcommand: FetchCommand.self)
}
