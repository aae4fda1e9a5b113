import ArgumentParser

/// The files that a run writes. All of them are opened, and compared with what it reads, before any is changed.
struct RunFiles: Sendable {
  /// Where thumbnails go.
  let writer: OutputWriter
  let report: (any ReportOutput)?
  let summary: SummaryFile?
  let gallery: GalleryWriter?

  /// Files as `options` name them, for a run over `inputs`, called `title` for people, whose thumbnails go to `directory`.
  ///
  /// - Throws: an `OutputError` for a file that cannot be made or must not be replaced, and a `ValidationError` where two
  ///   names mean the same file. Then no file was changed, and no new one is left.
  init(_ options: OutputOptions, inputs: RunInputs, title: String, directory: String) throws {
    let names = try NamedFiles(options, inputs: inputs)
    do {
      try names.check(inputs, replacement: options.replacement)
      writer = try OutputWriter(
        directory: directory, replacement: options.replacement, reserved: inputs.reserved)
      gallery = try options.gallery.map { path throws(OutputError) in
        try GalleryWriter(path: path, title: title, outputDirectory: directory)
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

/// The files that the command line names for output, opened but not changed.
private struct NamedFiles {
  let report: NamedFile?
  let summary: NamedFile?
  private let options: OutputOptions
  /// The report that is retried, where it is named for the new one too.
  private let updated: RunInputs.Retried?

  init(_ options: OutputOptions, inputs: RunInputs) throws(OutputError) {
    self.options = options
    updated = inputs.retried.flatMap { retried in
      guard let path = options.report, let file = FileIdentity(path: path) else { return nil }
      return FileIdentity(path: retried.path) == file ? retried : nil
    }
    let report = updated == nil ? try Self.open(options.report) : nil
    do throws(OutputError) {
      summary = try Self.open(options.summary)
    } catch {
      report?.discard()
      throw error
    }
    self.report = report
  }

  private static func open(_ path: String?) throws(OutputError) -> NamedFile? {
    guard let path else { return nil }
    return try NamedFile(path: path)
  }

  func discard() {
    report?.discard()
    summary?.discard()
  }

  /// Throws where an output is another one, or something that is read, or a file of somebody else. Reserves them all.
  func check(_ inputs: RunInputs, replacement: OutputWriter.Replacement) throws {
    var roles = inputs.roles
    for (file, role, path) in outputs {
      if let file, let other = roles.updateValue(role, forKey: file) {
        throw ValidationError("\(path) cannot be both \(other) and \(role); give each its own file.")
      }
      guard replacement == .any || OwnFile(role)?.mayReplace(path) ?? true else {
        throw OutputError(.create, path, .notOwn)
      }
    }
    for (file, role) in roles { inputs.reserved.insert(file, as: role) }
  }

  private var outputs: [(file: FileIdentity?, role: FileRole, path: String)] {
    let gallery = options.gallery.map { (file: FileIdentity(path: $0), role: FileRole.gallery, path: $0) }
    let files = [(report, FileRole.report), (summary, .summary)].compactMap { file, role in
      file.map { (file: $0.identity, role: role, path: $0.name) }
    }
    return files + (gallery.map { [$0] } ?? [])
  }

  var reportOutput: (any ReportOutput)? {
    get throws(OutputError) {
      if let updated, let path = options.report {
        return try ReportUpdate(path: path, lineNumbers: updated.lineNumbers)
      }
      return report.map(ReportWriter.init)
    }
  }
}
