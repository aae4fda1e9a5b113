import ArgumentParser
import BatchFetch
import Foundation
import Glibc
import ImageCache

/// `thumbs fetch`: the main job, from a manifest to thumbnails and a report.
struct FetchCommand: FetchingCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Download the pictures of a manifest and write their thumbnails.",
    discussion: """
      Examples:
        thumbs fetch apps.plist
        thumbs fetch apps.plist --gallery apps.html
        thumbs fetch -o icons --size 64 --size 64@2x apps.json
        grep -h '^https' links.txt | thumbs fetch --report report.jsonl -

      A run that was stopped is finished by the same command: only what is missing is downloaded.

      Exit status:
        0    all done
        1    finished; some items failed for good
        75   finished; some failures are worth retrying
        64   the command line is wrong
        65   a manifest cannot be read
        73   output cannot be created
        74   reading or writing failed on the way
        129  hung up
        130  interrupted
        143  terminated
      """)

  @OptionGroup(title: "Pictures wanted") var manifest: ManifestOptions
  @OptionGroup(title: "Thumbnails") var pixels: PixelOptions
  @OptionGroup(title: "Results") var output: OutputOptions
  @OptionGroup(title: "Downloads") var network: NetworkOptions
  @OptionGroup(title: "Cache and rendering") var caching: CachingOptions

  @Flag(help: "Show the files that would be written, and of which address; download and write nothing.")
  var dryRun = false

  func run() throws {
    let paths = try manifest.paths { FileManager.default.fileExists(atPath: $0) }
    let template = try output.template(sizeCount: pixels.specs.count)
    let directory = output.directory ?? OutputOptions.defaultDirectory
    let inputs = RunInputs(manifests: paths)
    let plan = {
      try reserveSources(of: paths, in: inputs.reserved)
      return ManifestPlan(
        try list(paths), names: OutputNames(template) { SourceKey(url: $0).description }, specs: specs)
    }
    if dryRun {
      try exiting { try DryRun(plan: plan(), directory: directory, files: network.fileAccess).run() }
    } else {
      try fetch(inputs, to: directory, plan)
    }
  }

  private func list(_ paths: [String]) throws(ManifestError) -> ManifestList {
    try ManifestList(paths: paths, keys: manifest.keys, relativeAddresses: network.allowFile ? .files : .refused)
  }

  /// Reads the manifests once for the local images in them, so that no row replaces the source of a later one.
  ///
  /// The sources of a pipe are known only as they come, so that its rows can begin before its end. Then only thumbnails
  /// can be replaced too early; where any file may be replaced, the pipe is read to its end first.
  private func reserveSources(of paths: [String], in reserved: ReservedFiles) throws {
    guard network.allowFile else { return }
    if output.overwrite, paths.contains("-") { try StandardStreams.spoolInput() }
    let files = paths.filter {
      $0 == "-" ? FileIdentity(descriptor: STDIN_FILENO) != nil : FileIdentity(path: $0) != nil
    }
    let position = lseek(STDIN_FILENO, 0, SEEK_CUR)
    for entry in try list(files) {
      if case .row(let row) = entry { reserved.insert(sourcesOf: row) }
    }
    lseek(STDIN_FILENO, position, SEEK_SET)
  }

  /// The thumbnails of a row: those of the command line, or of the sizes that the row says.
  private var specs: @Sendable (RowOptions) -> [ThumbnailSpec] {
    { [pixels, specs = pixels.specs] in $0.sizes.isEmpty ? specs : pixels.specs(of: $0.sizes) }
  }
}
