/// The files that a run writes. All of them are opened, and compared with the files that it reads, before any is changed.
struct RunFiles: Sendable {
  /// The output directory.
  let writer: OutputWriter
  let report: (any ReportOutput)?
  let summary: SummaryFile?
  let gallery: GalleryWriter?

  /// Opens the files that `options` name, for a run over `inputs` called `title`, whose thumbnails go to `directory`.
  ///
  /// - Throws: an `OutputError` for a file that cannot be made or must not be replaced, and a `ValidationError` where two
  ///   names mean the same file. Then no file was changed, and no new one is left.
  init(_ options: OutputOptions, inputs: RunInputs, title: String, directory: String) throws {
    let names = try NamedFiles(options, inputs: inputs)
    do {
      try names.check(inputs, replacement: options.replacement)
      writer = try OutputWriter(
        directory: directory, replacement: options.replacement, reserved: inputs.reserved)
      gallery = try names.gallery.map { file throws(OutputError) in
        try GalleryWriter(file, title: title, outputDirectory: directory)
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
