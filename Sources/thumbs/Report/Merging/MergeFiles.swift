import ArgumentParser

/// The files that a merge writes. They are opened and compared with the reports before any of them is changed.
struct MergeFiles: Sendable {
  private let output: NamedFile
  private let summary: NamedFile?

  /// Opens the files at the paths `output` and `summary`; `-` is standard output.
  ///
  /// - Throws: An `OutputError` if a file cannot be created, or, unless `mayReplaceAny`, must not be replaced, and a
  ///   `ValidationError` if it is one of the `sources`, or if both are the same.
  init(output: String, summary: String?, sources: [ReportSource], mayReplaceAny: Bool) throws {
    self.output = try NamedFile(path: output)
    do {
      self.summary = try summary.map { path throws(OutputError) in try NamedFile(path: path) }
    } catch {
      self.output.discard()
      throw error
    }
    do {
      try check(sources, mayReplaceAny: mayReplaceAny)
    } catch {
      discard()
      throw error
    }
  }

  private func check(_ sources: [ReportSource], mayReplaceAny: Bool) throws {
    var known = Set(sources.compactMap(\.identity))
    let files = [(output, OwnFile.report)] + (summary.map { [($0, OwnFile.summary)] } ?? [])
    for (file, kind) in files {
      if let identity = file.identity, !known.insert(identity).inserted {
        throw ValidationError("\(file.name) has another use in this command; give the result a file of its own.")
      }
      guard !mayReplaceAny, let path = file.path else { continue }
      if !kind.mayReplace(file) { throw OutputError(.create, path, .notOwn) }
    }
  }

  /// Removes the files that did not exist before.
  func discard() {
    output.discard()
    summary?.discard()
  }

  /// Writes the lines of `merged`, which are those of `sources`, and the summary, which names the `exit` status.
  ///
  /// - Throws: A `ManifestError` if a report has changed since it was read; then the result says that it is partial.
  func write(_ merged: MergedReports, from sources: [ReportSource], exit: ExitCode) throws {
    output.empty()
    let writer = ReportWriter(output)
    var written = 0
    do {
      for (number, source) in sources.enumerated() {
        try source.forEach(of: merged.lines[number] ?? []) { line in
          try writer.append(copyOf: line)
          written += 1
        }
      }
    } catch {
      try? writer.finish(.partial(rows: written))
      throw error
    }
    try writer.finish(merged.isComplete ? .complete : .partial(rows: merged.count), of: merged.listEnd)
    let json = merged.json(reports: sources.count, exit: exit.rawValue)
    try summary.map { file throws(OutputError) in try SummaryFile(file: file).write(json) }
  }
}
