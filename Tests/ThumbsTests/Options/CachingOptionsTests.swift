import ArgumentParser
import BatchFetch
import ImageCache
import Testing

@testable import thumbs

@Suite struct CachingOptionsTests {
  @Test func `Every caching option has its effect`() throws {
    let options = try CachingOptions.parse([
      "--cache-dir", "/c", "--cache-size", "5MiB", "--keep-originals", "--render-threads", "3", "--max-pixels", "7M",
    ])

    #expect(options.configuration.directory == "/c" && options.configuration.diskByteLimit == 5 << 20)
    #expect(options.configuration.originals == .standard)
    #expect(options.renderThreads == 3 && options.maxPixels.count == 7_000_000)
    #expect(options.mode(otherwise: .normal) == .normal)
  }

  @Test func `By default, originals are not kept and the stored limit applies`() throws {
    let defaults = try CachingOptions.parse([])

    #expect(defaults.configuration.originals == .none && defaults.configuration.diskByteLimit == nil)
  }

  @Test(arguments: [("--refresh", CacheMode.refresh), ("--offline", .offline)])
  func `A flag sets the cache mode`(flag: String, mode: CacheMode) throws {
    #expect(try CachingOptions.parse([flag]).mode(otherwise: .retry) == mode)
    #expect(try CachingOptions.parse([]).mode(otherwise: .retry) == .retry)
  }

  @Test func `With --no-cache, there is no cache directory`() throws {
    #expect(try CachingOptions.parse(["--no-cache", "--cache-dir", "/c"]).configuration.directory == nil)
  }

  @Test(arguments: [
    (["--refresh", "--offline"], "--refresh and --offline cannot be used together."),
    (["--no-cache", "--offline"], "--offline needs the cache; it cannot be used with --no-cache."),
  ])
  func `Contradictory options are a usage error, and each one alone is valid`(arguments: [String], message: String) {
    #expect(usageError { _ = try CachingOptions.parse(arguments) } == message)
    for argument in arguments { #expect(usageError { _ = try CachingOptions.parse([argument]) } == nil) }
  }

  @Test(arguments: [
    ("/no/such.icc", "/no/such.icc: there is no such file."), ("/dev", "/dev: is a directory, not an ICC profile."),
    ("/dev/zero", "/dev/zero: is longer than 16 MiB."),
    (#filePath, "\(#filePath): It is not a valid ICC profile of CMYK inks."),
  ])
  func `A file that is no CMYK profile is a usage error`(path: String, message: String) {
    #expect(usageError { _ = try CachingOptions.parse(["--cmyk-profile", path]) }?.hasSuffix(message) == true)
  }

  @Test func `The pipeline gets the values of the options`() throws {
    let command = try FetchCommand.parse([
      "--render-threads", "3", "--max-pixels", "7M", "--allow-file", "--offline",
      "--fail-on", "none",
    ])

    let configuration = command.pipelineConfiguration

    #expect(configuration.renderThreads == 3 && configuration.maxPixels == 7_000_000)
    #expect(configuration.files == .allowed && configuration.cacheMode == .offline)
    #expect(configuration.failLevel == .none)
  }
}
