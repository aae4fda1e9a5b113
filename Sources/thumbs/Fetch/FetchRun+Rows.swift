import BatchFetch
import ImageCache
import Synchronization

extension FetchRun {
  /// Accounts for a finished row in the output directory, the report, the gallery, the summary and the progress.
  func handle(_ item: BatchItem<PlannedRow>) {
    defer { plan.finish(item.element) }
    var line = line(of: item)
    if line.status != .ok {
      line.again = item.element.again ?? ReportLine.Again(item.element, directory: files.writer.directory)
    }
    state.withLock { $0.summary.count(line) }
    files.metrics?.items.count(line)
    attempt { () throws(OutputError) in
      try files.report?.append(line, position: item.index)
      try files.gallery?.append(line, subtitle: item.element.entry.subtitle)
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

  /// Writes the thumbnails of a finished row, and returns its line of the report.
  private func line(of item: BatchItem<PlannedRow>) -> ReportLine {
    switch (item.element.entry, item.outcome) {
    case (.bad(let row), _): return ReportLine(row)
    case (.row(let row), .failure(let failure)):
      return ReportLine(row, .failed(failure.explained(by: state.withLock { $0.limiter.reached })))
    case (.row(let row), .success(let set)):
      do throws(OutputError) {
        return ReportLine(row, .done(set, try outputs(of: set, for: item.element, url: row.url)))
      } catch {
        if error.isFatal { stop(for: error) }
        return ReportLine(row, .failed(FetchFailure(error.failureCode, "\(error)", attempts: set.attempts)))
      }
    }
  }

  private func outputs(
    of set: ThumbnailSet, for row: PlannedRow, url: String
  ) throws(OutputError) -> [ReportLine.Output] {
    guard let name = row.name else { return [] }
    let owner = name.dependsOnPixels ? ([url] + row.specs.map(\.fingerprint)).joined(separator: "\0") : nil
    var outputs: [ReportLine.Output] = []
    for thumbnail in set.thumbnails {
      let path = name.fileName(of: thumbnail)
      let outcome = try files.writer.write(thumbnail.bytes, as: path, for: owner)
      outputs.append(ReportLine.Output(thumbnail, path: path, outcome: outcome))
    }
    return outputs
  }
}
