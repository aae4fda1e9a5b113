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
  @OptionGroup var output: JSONOption

  func run() throws {
    let directory = try cache.directory()
    try output.print(["directory": directory], or: directory)
  }
}
