import ArgumentParser
import ImageCache

/// `thumbs cache`: inspects and maintains the disk cache.
struct CacheCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache",
    abstract: "Inspect, verify and shrink the disk cache.",
    discussion: """
      Examples:
        thumbs cache stats
        thumbs cache ls --filter host=cdn.example
        thumbs cache why https://cdn.example/a.jpg
        thumbs cache limit 500MiB

      Exit status:
        0    done
        1    problems found, or no such source
        64   invalid command line
        66   no cache in the directory
        74   reading or writing failed
        75   the cache is busy
      """,
    subcommands: [
      CacheStatsCommand.self, CacheListCommand.self, CacheShowCommand.self, CacheWhyCommand.self,
      CacheVerifyCommand.self, CachePruneCommand.self, CacheRemoveCommand.self, CacheLimitCommand.self,
      CacheClearCommand.self, CacheDirCommand.self,
    ])
}

/// The location of the cache.
struct CacheOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Cache directory. (default: $THUMBS_CACHE_DIR, else $XDG_CACHE_HOME/thumbs, else ~/.cache/thumbs)",
      valueName: "dir"))
  var cacheDir: String?

  @Flag(help: "Ignore the configuration file.") var noConfig = false

  func directory() throws -> String {
    guard let directory = cacheDir ?? CacheLocation.standard() else {
      throw ValidationError("No home directory; give the cache directory with --cache-dir.")
    }
    return directory
  }
}

extension DiskCacheError.Code {
  /// The exit code of a command that fails with this error.
  var exitCode: ExitCode {
    switch self {
    case .noCache: ExitCode(66)
    case .busy: ExitCode(75)
    case .corrupt: ExitCode(1)
    case .newerSchema, .networkFileSystem, .diskFull, .io: ExitCode(74)
    }
  }
}

/// Runs `body`. Prints an error of the cache to standard error and throws its exit code.
func reportingCacheErrors(_ body: () throws -> Void) throws {
  do {
    try body()
  } catch let error as DiskCacheError {
    printToStandardError("thumbs cache: \(error.message)")
    throw error.code.exitCode
  } catch let error as SourceSelector.Failure {
    printToStandardError("thumbs cache: \(error)")
    throw ExitCode(1)
  } catch let error as CacheShowCommand.MissingThumbnail {
    printToStandardError("thumbs cache: \(error)")
    throw ExitCode(1)
  }
}
