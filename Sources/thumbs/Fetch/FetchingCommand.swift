import ArgumentParser
import BatchFetch
import Foundation

/// A command that fetches images, writes their thumbnails to files, and reports the outcome of each.
protocol FetchingCommand: DownloadingCommand {
  var output: OutputOptions { get }
  var runLimits: RunLimitOptions { get }
  /// True to leave files of an earlier run alone. Default false.
  var skipsExisting: Bool { get }
}

extension FetchingCommand {
  var skipsExisting: Bool { false }

  /// Fetches the rows that the plan of `makePlan` reads from `inputs` into `directory`, with `credentials`. The run
  /// began at `started`. Throws the exit code for every error.
  func fetch(
    _ inputs: RunInputs, to directory: String, with credentials: Credentials,
    since started: ContinuousClock.Instant = .now,
    _ makePlan: () throws -> any RowPlan
  ) throws {
    let environment = ProcessInfo.processInfo.environment
    let remoteCache = try remoteCache(environment)
    let descriptors = prepareProcess(isQuiet: output.quiet)
    try exiting {
      let (hosts, plan) = try runLimits.limits.opening(since: started) { (try politeness.hostRules(), try makePlan()) }
      let meter = ProgressMeter(output.progressMode, environment: environment)
      // From here on, an interrupt must leave the files in a consistent state.
      let interrupt = InterruptWatch { meter.end() }
      var options = output
      let objects = try BucketFiles(&options, output: directory) { buckets }
      defer { objects.remove() }
      let files = try RunFiles(
        options, inputs: inputs, title: title(of: inputs.names), directory: objects.directory ?? directory,
        bucket: try BucketFolder(directory).map { folder throws(OutputError) in
          try BucketWriter(folder, buckets, replacement: output.replacement)
        }, images: BucketFiles.images(of: directory, from: output.gallery))
      let settings = RunSettings(
        started: started, hosts: hosts, connections: descriptors.connections, credentials: credentials,
        remoteCache: remoteCache)
      let run = FetchRun(self, settings, plan: plan, inputs: inputs, files: files, meter: meter)
      let ending = Result { try run.run(interrupt) }
      try store(objects)
      try ending.get()
    }
  }

  /// Returns what relative URLs in lists stand for.
  func relativeURLs(_ columns: ColumnOptions) -> RelativeURLs {
    columns.base.map { .base($0) } ?? (network.allowFile ? .files : .refused)
  }

  /// Stores what the run has written for a bucket, however it has ended.
  private func store(_ objects: BucketFiles) throws {
    do throws(OutputError) {
      try objects.store()
    } catch {
      throw ExitCode.ioError.printing(error)
    }
  }

  /// The files with settings and credentials that the run reads, with their roles. No output may replace them.
  var settingFiles: [(path: String, role: FileRole)] {
    let environment = ProcessInfo.processInfo.environment
    var files: [(path: String, role: FileRole)] = []
    if !configuration.noConfig, let path = ConfigurationFile.path(environment) { files.append((path, .configuration)) }
    if let path = politeness.hosts { files.append((path, .hosts)) }
    if let path = output.fallback?.path { files.append((path, .fallback)) }
    if let path = network.cookieFile { files.append((path, .setting("cookie-file"))) }
    if let path = network.netrcPath(environment) { files.append((path, .setting("netrc"))) }
    if let path = network.certificateAuthorities { files.append((path, .setting("cacert"))) }
    if let path = CertificateBundle.find(environment: environment) { files.append((path, .authorities)) }
    if let path = caching.cmykProfile?.path { files.append((path, .setting("cmyk-profile"))) }
    for file in content.rejectHash { files.append((file.path, .setting("reject-hash"))) }
    if let path = remote.remoteCacheKey { files.append((path, .setting("remote-cache-key"))) }
    for path in (network.headers + network.configuredHeaders).compactMap(\.path) {
      files.append((path, .setting("header")))
    }
    return files
  }

  /// The title of a gallery of the rows from `paths`.
  private func title(of paths: [String]) -> String {
    guard !paths.isEmpty else { return "Images" }
    return paths.map { $0 == "-" ? "Images from standard input" : $0.split(separator: "/").last.map(String.init) ?? $0 }
      .joined(separator: ", ")
  }
}
