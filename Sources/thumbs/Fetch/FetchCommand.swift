import ArgumentParser
import BatchFetch
import Foundation
import ImageCache

/// `thumbs fetch`: the main job, from a manifest to thumbnails and a report.
struct FetchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Download the pictures of a manifest and write their thumbnails.",
    discussion: """
      Examples:
        thumbs fetch apps.plist
        thumbs fetch apps.plist --gallery apps.html
        thumbs fetch -o icons --size 64 --size 64@2x apps.json
        grep -h '^https' links.txt | thumbs fetch --report report.jsonl -

      Exit status:
        0    all done
        1    finished; some items failed for good
        75   finished; some failures are worth retrying
        64   the command line is wrong
        65   a manifest cannot be read
        73   output cannot be created
        74   reading or writing failed on the way
        130  interrupted
        143  terminated
      """)

  @OptionGroup(title: "Pictures wanted") var manifest: ManifestOptions
  @OptionGroup(title: "Thumbnails") var pixels: PixelOptions
  @OptionGroup(title: "Results") var output: OutputOptions
  @OptionGroup(title: "Downloads") var network: NetworkOptions
  @OptionGroup(title: "Cache and rendering") var caching: CachingOptions

  func run() throws {
    // A reader that went away is an error of the write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    let paths = try manifest.paths { FileManager.default.fileExists(atPath: $0) }
    let template = try output.template(sizeCount: pixels.specs.count)
    do {
      let run = try FetchRun(self, manifests: paths, template: template)
      try run.run()
    } catch let error as ManifestError {
      throw ExitCode.dataError.saying(error)
    } catch let error as OutputError {
      throw ExitCode.cannotCreate.saying(error)
    }
  }

  /// What the pipeline is told.
  var pipelineConfiguration: ThumbnailPipeline.Configuration {
    var configuration = ThumbnailPipeline.Configuration()
    configuration.downloads = network.configuration
    configuration.cache = caching.configuration
    configuration.cacheMode = caching.mode
    configuration.renderThreads = caching.renderThreads ?? configuration.renderThreads
    configuration.maxPixels = caching.maxPixels.count
    configuration.files = network.allowFile ? .allowed : .refused
    return configuration
  }
}
