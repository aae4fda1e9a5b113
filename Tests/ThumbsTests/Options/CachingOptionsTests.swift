import ArgumentParser
import BatchFetch
import ImageCache
import Testing

@testable import thumbs

@Suite struct CachingOptionsTests {
  @Test func `Every option has its effect`() throws {
    let options = try CachingOptions.parse([
      "--cache-dir", "/c", "--cache-size", "5MiB", "--keep-originals", "--render-threads", "3", "--max-pixels", "7M",
    ])
    #expect(options.configuration.directory == "/c" && options.configuration.diskByteLimit == 5 << 20)
    #expect(options.configuration.originals == .standard)
    #expect(options.renderThreads == 3 && options.maxPixels.count == 7_000_000)
    #expect(options.mode == .normal)
    let defaults = try CachingOptions.parse([])
    #expect(defaults.configuration.originals == .none && defaults.configuration.diskByteLimit == nil)
  }

  @Test(arguments: [("--refresh", CacheMode.refresh), ("--offline", .offline)])
  func `A flag says how far the cache is believed`(flag: String, mode: CacheMode) throws {
    #expect(try CachingOptions.parse([flag]).mode == mode)
  }

  @Test func `Without a cache, nothing is kept on disk`() throws {
    #expect(try CachingOptions.parse(["--no-cache", "--cache-dir", "/c"]).configuration.directory == nil)
  }

  @Test(arguments: [
    (["--refresh", "--offline"], "--refresh and --offline exclude each other; leave one out."),
    (["--no-cache", "--offline"], "--offline needs the cache; leave --no-cache out."),
  ])
  func `Opposites exclude each other`(arguments: [String], message: String) {
    #expect(usageError { _ = try CachingOptions.parse(arguments) } == message)
    // Each alone is fine.
    for argument in arguments { #expect(usageError { _ = try CachingOptions.parse([argument]) } == nil) }
  }

  @Test func `The pipeline is told what the options say`() throws {
    let command = try FetchCommand.parse(["--render-threads", "3", "--max-pixels", "7M", "--allow-file", "--offline"])
    let configuration = command.pipelineConfiguration
    #expect(configuration.renderThreads == 3 && configuration.maxPixels == 7_000_000)
    #expect(configuration.files == .allowed && configuration.cacheMode == .offline)
  }
}
