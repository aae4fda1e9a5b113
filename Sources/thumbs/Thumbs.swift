import ArgumentParser

@main
struct Thumbs: ParsableCommand {
  static let configuration = CommandConfiguration(subcommands: [CacheCommand.self])
}
