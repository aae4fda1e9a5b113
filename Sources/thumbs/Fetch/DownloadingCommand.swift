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
  var remote: RemoteCacheOptions { get }
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
    } catch let error as InputError {
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
    var transport = network.transportConfiguration(environment: environment)
    transport.cookies = settings.credentials.cookies
    transport.maxConnections = min(transport.maxConnections, settings.connections)
    var configuration = pipelineConfiguration
    configuration.remoteCache = settings.remoteCache
    configuration.downloads.hosts = settings.hosts
    configuration.downloads.metrics = metrics
    configuration.downloads.concurrency = min(configuration.downloads.concurrency, settings.connections)
    let directory = caching.configuration.directory
    let logger = Logger(label: "thumbs") { _ in NoteLogHandler(cache: directory) { note("thumbs: \($0)") } }
    return ThumbnailPipeline(configuration, transport: CurlTransport(transport), logger: logger)
  }

  /// A client for the buckets that the command line names.
  var buckets: BucketClient { BucketClient(network, environment: ProcessInfo.processInfo.environment) }

  /// Returns the settings of the remote cache; nil if there is none.
  func remoteCache(_ environment: [String: String]) throws -> RemoteCache? {
    try remote.cache(
      connections: network.transportConfiguration(environment: environment), environment: environment)
  }

  /// The pipeline configuration for the command's options.
  var pipelineConfiguration: ThumbnailPipeline.Configuration {
    var configuration = ThumbnailPipeline.Configuration()
    configuration.downloads = network.configuration
    configuration.downloads.buckets = network.buckets(environment: ProcessInfo.processInfo.environment)
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
    configuration.page = decoders.page
    return configuration
  }
}

/// Passes log messages to a closure. The default level is warning.
struct NoteLogHandler: LogHandler {
  var logLevel = Logger.Level.warning
  var metadata: Logger.Metadata = [:]
  private let cache: String?
  private let note: @Sendable (String) -> Void

  /// - Parameter cache: The directory of the cache, for messages.
  init(cache: String? = nil, _ note: @escaping @Sendable (String) -> Void) { (self.cache, self.note) = (cache, note) }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let message = "\(event.message)"
    if let cache, let code = event.metadata?["code"], "\(code)" == DiskCacheError.Code.diskFull.rawValue {
      // SQLite's words would name neither.
      let reason = message == "database or disk is full" ? "The disk of the cache is full." : message
      return note("\(reason) Nothing new is cached in \(cache) until there is space; the run goes on.")
    }
    // The cache stays off until the user does something about it.
    guard let state = event.metadata?["cache"], "\(state)" == "off" else { return note(message) }
    let end = message.hasSuffix(".") ? "" : "."
    note("\(message)\(end) Choose another directory with --cache-dir, or none with --no-cache.")
  }
}
