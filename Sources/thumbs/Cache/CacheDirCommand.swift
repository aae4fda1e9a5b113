import ArgumentParser

/// `thumbs cache dir`: prints the path of the cache, for scripts.
struct CacheDirCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dir", abstract: "Print the cache directory.",
    discussion: """
      Examples:
        thumbs cache dir
      """)

  @OptionGroup var cache: CacheOptions

  func run() throws { print(try cache.directory()) }
}
