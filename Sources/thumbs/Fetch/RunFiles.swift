import ArgumentParser
import BatchFetch
import Glibc

/// The files that a run writes. All of them are opened and compared with the files that it reads before any is changed.
struct RunFiles: Sendable {
  /// The place of the thumbnails.
  let output: any ThumbnailOutput
  /// The image that failed rows get.
  let fallback: FallbackImage?
  let report: (any ReportOutput)?
  let summary: SummaryFile?
  let gallery: GalleryWriter?
  let metrics: MetricsWriter?

  /// Opens the files named in `options`, for a run over `inputs`.
  ///
  /// - Parameters:
  ///   - title: The title of the gallery.
  ///   - directory: The output directory, or one for temporary files if the thumbnails go elsewhere.
  ///   - bucket: The place of the thumbnails if that is not the directory.
  ///   - images: The location of the images that the gallery shows; nil if it depends on the directory.
  /// - Throws: an `OutputError` if a file cannot be created or must not be replaced, and a `ValidationError` if two
  ///   names refer to the same file. In both cases no file was changed, and no new file is left behind.
  init(
    _ options: OutputOptions, inputs: RunInputs, title: String, directory: String, bucket: BucketWriter? = nil,
    images: GalleryImages? = nil
  ) throws {
    fallback = options.fallback
    let names = try NamedFiles(options, inputs: inputs, directory: directory)
    do {
      try names.check(inputs, replacement: options.replacement)
      output =
        try bucket
        ?? OutputWriter(directory: directory, replacement: options.replacement, reserved: inputs.reserved)
      gallery = try names.gallery.map { [output] file throws(OutputError) in
        try GalleryWriter(
          file, title: title, outputDirectory: output.directory, workplace: directory, images: images,
          reserved: inputs.reserved)
      }
      metrics = try names.metrics.map { file throws(OutputError) in
        try MetricsWriter(file, workplace: directory, reserved: inputs.reserved)
      }
      report = try names.reportOutput
      summary = names.summary.map { SummaryFile(file: $0) }
    } catch {
      names.discard()
      throw error
    }
    report?.begin()
  }
}

/// The settings of a run that are decided before its files are opened.
struct RunSettings: Sendable {
  /// The start of the run. Its duration and its time limit count from here.
  let started: ContinuousClock.Instant
  /// The rules of `--hosts`.
  let hosts: HostRules
  /// The maximum number of connections.
  let connections: Int
  /// The header fields and cookies to send.
  let credentials: Credentials
  /// The cache that several machines share; nil for none.
  let remoteCache: RemoteCache?

  /// Returns the time that the run waits for uploads if it ends at `now`: a tenth of its duration, but no less than two
  /// timeouts of the remote cache.
  func uploadTime(at now: ContinuousClock.Instant) -> Duration {
    max((remoteCache?.readTimeout ?? .zero) * 2, started.duration(to: now) / 10)
  }
}
