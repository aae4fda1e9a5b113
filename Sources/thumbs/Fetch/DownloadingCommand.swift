import ArgumentParser
import BatchFetch
import CSQLiteSetup
import CoreMetrics
import Foundation
import ImageCache
import Logging

/// A command that downloads and renders images.
protocol DownloadingCommand: ParsableCommand {
  var network: NetworkOptions { get }
  var politeness: PolitenessOptions { get }
  var content: ContentOptions { get }
  var caching: CachingOptions { get }
  var decoders: DecoderOptions { get }
  var configuration: ConfigurationOptions { get }
  /// The size of the memory cache in bytes. Default 4 MiB.
  static var memoryByteLimit: Int { get }
  /// Decides when cached entries are served, unless an option does. Default ``CacheMode/normal``.
  static var cacheMode: CacheMode { get }
}

extension DownloadingCommand {
  static var memoryByteLimit: Int { CachingOptions.memoryByteLimit }
  static var cacheMode: CacheMode { .normal }

  /// Prepares the process for downloads, and returns its limit of descriptors. Unless it `isQuiet`, mentions it on
  /// standard error if there is no cache directory.
  func prepareProcess(isQuiet: Bool) -> DescriptorLimit {
    // A write to a closed pipe then fails with EPIPE and does not kill the process.
    signal(SIGPIPE, SIG_IGN)
    // SQLite's memory statistics take a global lock on every allocation, which slows down concurrent cache lookups.
    _ = sqlite_setup_without_memory_statistics()
    if !caching.noCache, caching.configuration.directory == nil, !isQuiet {
      let reason = "HOME is not set. Choose a directory with --cache-dir, or none with --no-cache."
      ProgressOutput.standardError.write("thumbs: Nothing is cached, because \(reason)\n")
    }
    return DescriptorLimit.raise()
  }

  /// Runs `body`. Prints its manifest and output errors and throws their exit codes instead.
  func exiting(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as ManifestError {
      throw ExitCode.dataError.printing(error)
    } catch let error as OutputError {
      throw ExitCode.cannotCreate.printing(error)
    }
  }

  /// Returns the pipeline of a run with `settings`. Its metrics go to `metrics`, and its warnings to `note`.
  func pipeline(
    _ settings: RunSettings, metrics: (any MetricsFactory)? = nil, note: @escaping @Sendable (String) -> Void
  ) -> ThumbnailPipeline {
    let environment = ProcessInfo.processInfo.environment
    var transport = network.transportConfiguration(environment: environment, cookies: settings.credentials.cookies)
    transport.systemAuthorities = CertificateBundle.find(environment: environment)
    transport.maxConnections = min(transport.maxConnections, settings.connections)
    var configuration = pipelineConfiguration
    configuration.remoteCache = settings.remoteCache
    configuration.downloads.hosts = settings.hosts
    configuration.downloads.metrics = metrics
    configuration.downloads.concurrency = min(configuration.downloads.concurrency, settings.connections)
    let logger = Logger(label: "thumbs") { _ in NoteLogHandler { note("thumbs: \($0)") } }
    return ThumbnailPipeline(configuration, transport: CurlTransport(transport), logger: logger)
  }

  /// The pipeline configuration for the command's options.
  var pipelineConfiguration: ThumbnailPipeline.Configuration {
    var configuration = ThumbnailPipeline.Configuration()
    configuration.downloads = network.configuration
    politeness.apply(to: &configuration.downloads)
    configuration.cache = caching.configuration
    configuration.cache.memoryByteLimit = Self.memoryByteLimit
    configuration.cacheMode = caching.mode(otherwise: Self.cacheMode)
    configuration.cacheKeyQuery = caching.cacheKeyQuery ?? .all
    configuration.renderThreads = caching.renderThreads ?? configuration.renderThreads
    configuration.maxPixels = caching.maxPixels.count
    configuration.content = content.rules
    configuration.failLevel = caching.failOn
    configuration.inks = caching.cmykProfile?.profile
    configuration.files = network.fileAccess
    configuration.decoders = decoders.isolation
    return configuration
  }
}
