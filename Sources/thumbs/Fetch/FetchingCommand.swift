import ArgumentParser
import BatchFetch
import CSQLiteSetup
import Foundation

/// A command that fetches pictures and accounts for each of them.
protocol FetchingCommand: ParsableCommand {
  var output: OutputOptions { get }
  var network: NetworkOptions { get }
  var caching: CachingOptions { get }
}

extension FetchingCommand {
  /// Fetches the rows that `plan` opens from `inputs`, into `directory`. Every error ends in the exit code it stands for.
  func fetch(_ inputs: RunInputs, to directory: String, _ plan: () throws -> any RowPlan) throws {
    // A reader that went away is an error of the write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    let descriptors = DescriptorLimit.raise()
    // Threads that look into the cache would wait for each other at every allocation. It matters to speed alone.
    _ = sqlite_setup_without_memory_statistics()
    try exiting {
      let plan = try plan()
      let meter = ProgressMeter(output.progressMode, environment: ProcessInfo.processInfo.environment)
      // From here on there are files to leave in order.
      let interrupt = InterruptWatch { meter.end() }
      let files = try RunFiles(output, inputs: inputs, title: title(of: inputs.paths), directory: directory)
      try FetchRun(
        self, plan: plan, files: files, reserved: inputs.reserved, meter: meter, connections: descriptors.connections
      ).run(interrupt)
    }
  }

  /// Runs `body`, whose errors end in the exit codes they stand for.
  func exiting(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as ManifestError {
      throw ExitCode.dataError.saying(error)
    } catch let error as OutputError {
      throw ExitCode.cannotCreate.saying(error)
    }
  }

  /// The heading of a page about the files at `paths`.
  private func title(of paths: [String]) -> String {
    paths.map { $0 == "-" ? "Standard input" : $0.split(separator: "/").last.map(String.init) ?? $0 }
      .joined(separator: ", ")
  }

  /// What the pipeline is told.
  var pipelineConfiguration: ThumbnailPipeline.Configuration {
    var configuration = ThumbnailPipeline.Configuration()
    configuration.downloads = network.configuration
    configuration.cache = caching.configuration
    configuration.cacheMode = caching.mode
    configuration.renderThreads = caching.renderThreads ?? configuration.renderThreads
    configuration.maxPixels = caching.maxPixels.count
    configuration.files = network.fileAccess
    return configuration
  }
}
