import BatchFetch
import ImageCache
import Synchronization

extension FetchRun {
  /// Accounts for a finished row in the output directory, the report, the gallery, the summary and the progress.
  func handle(_ item: BatchItem<PlannedRow>, _ line: ReportLine) {
    defer { plan.finish(item.element) }
    var line = line
    if line.status != .ok {
      line.again = item.element.again ?? ReportLine.Again(item.element, directory: files.writer.directory)
      if line.fallback.isEmpty { line.fallback = remainingFallback(of: item.element) }
    }
    state.withLock { $0.summary.count(line) }
    files.metrics?.items.count(line)
    attempt { () throws(OutputError) in
      try files.report?.append(line, position: item.index)
      let warning = try files.gallery?.append(line, subtitle: item.element.entry.subtitle)
      if let warning, !isQuiet { meter.note("thumbs: \(warning)") }
    }
    countDownloads()
    if isVerbose { meter.note(line.note) }
    meter.finish(line.index, line.status, bytes: newlyDownloadedBytes())
  }

  /// Returns the number of bytes downloaded since the last call, so that rows sharing a download do not count it twice.
  private func newlyDownloadedBytes() -> Int {
    let bytes = pipeline.downloadedBytes
    return state.withLock { state in
      defer { state.shownBytes = bytes }
      return bytes - state.shownBytes
    }
  }

  /// Writes the thumbnails of a finished row, or the fallback of a failed one, and returns its line of the report.
  /// Several threads may do this at a time.
  func line(of planned: PlannedRow, _ outcome: Result<ThumbnailSet, FetchFailure>) -> ReportLine {
    switch (planned.entry, outcome) {
    case (.bad(let row), _): return ReportLine(row, kept: planned.kept)
    case (.row(let row), .failure(let failure)):
      if let kept = state.withLock({ $0.kept.removeValue(forKey: row.index) }) { return ReportLine(row, kept) }
      var line = ReportLine(row, .failed(failure.explained(by: state.withLock { $0.limiter.reached })))
      if line.status == .failed { line.fallback = fallback(for: planned, url: row.url) }
      return line
    case (.row(let row), .success(let set)):
      do throws(OutputError) {
        // A stale image must not be left alone as if it were the present one.
        let labeled = set.origin == .stale ? nil : row
        return ReportLine(row, .done(set, try outputs(set.files, for: planned, url: row.url, labeledFor: labeled)))
      } catch {
        if error.isFatal { stop(for: error) }
        return ReportLine(row, .failed(FetchFailure(error.failureCode, "\(error)", attempts: set.attempts)))
      }
    }
  }

  private func outputs(
    _ thumbnails: [Thumbnail], for row: PlannedRow, url: String, labeledFor labeled: ManifestRow? = nil
  ) throws(OutputError) -> [ReportLine.Output] {
    guard let name = row.name else { return [] }
    let owner = name.dependsOnPixels ? ([url] + row.specs.map(\.fingerprint)).joined(separator: "\0") : nil
    var outputs: [ReportLine.Output] = []
    for thumbnail in thumbnails {
      let path = name.fileName(of: thumbnail)
      let label = labeled.map { (OutputLabel($0, thumbnail.spec), thumbnail.size) }
      let outcome = try files.writer.write(thumbnail.bytes, as: path, for: owner, label: label)
      outputs.append(ReportLine.Output(thumbnail, path: path, outcome: outcome))
    }
    removeFallback(of: row, unless: outputs)
    return outputs
  }

  /// Returns the files of `planned` if an earlier run made all of them from the same source in the same way; nil if one
  /// is missing or cannot prove that.
  func existing(_ planned: PlannedRow) -> ReportLine.RowOutcome? {
    guard skipsExisting, case .row(let row) = planned.entry, let name = planned.name, !planned.specs.isEmpty,
      planned.files.count == planned.specs.count
    else { return nil }
    var (thumbnails, outputs): ([Thumbnail], [ReportLine.Output]) = ([], [])
    for spec in planned.specs {
      let label = OutputLabel(row, spec)
      let found = name.possibleNames(of: spec).compactMap { name, format in
        files.writer.existing(name, label, spec, format).map { ($0, name) }
      }
      // With two formats, nothing says which one the image has now.
      guard let (thumbnail, path) = found.first, found.count == 1 else { return nil }
      thumbnails.append(thumbnail)
      outputs.append(ReportLine.Output(thumbnail, path: path, outcome: .unchanged))
    }
    return .kept(thumbnails, outputs)
  }

  /// Writes the fallback image, if there is one, as the files of a failed row. If that fails, the row has no files; the
  /// report keeps its own failure, which matters more.
  private func fallback(for row: PlannedRow, url: String) -> [ReportLine.Output] {
    guard let thumbnails = try? files.fallback?.thumbnails(row.files) else { return [] }
    do throws(OutputError) {
      return try outputs(thumbnails, for: row, url: url)
    } catch {
      if error.isFatal { stop(for: error) }
      meter.note("thumbs: \(error)")
      return []
    }
  }

  /// Returns the files with the fallback image that an earlier run wrote for `row` into this directory, as far as they
  /// are still there.
  private func remainingFallback(of row: PlannedRow) -> [ReportLine.Output] {
    guard let (directory, outputs) = row.fallback, directory == files.writer.directory else { return [] }
    return outputs.filter { output in
      output.path.map { files.writer.contains($0, length: output.byteCount) } ?? false
    }
  }

  /// Removes the fallback that an earlier run wrote for `row`, if its files now have other names, because the format of
  /// the row's image has another extension than that of the fallback.
  private func removeFallback(of row: PlannedRow, unless outputs: [ReportLine.Output]) {
    guard let name = row.name, let thumbnails = try? files.fallback?.thumbnails(row.files) else { return }
    for thumbnail in thumbnails {
      let path = name.fileName(of: thumbnail)
      if !outputs.contains(where: { $0.path == path }) { try? files.writer.remove(path, containing: thumbnail.bytes) }
    }
  }
}
