import ArgumentParser
import BatchFetch
import HTTPTypes
import ImageCache

/// Lists what a run would write: one line per thumbnail, with its file and URL. Downloads and writes nothing.
struct DryRun {
  var plan: any RowPlan
  var directory: String
  var files: ThumbnailPipeline.FileAccess
  var demand: RowDemand

  /// Prints the lines on standard output. Throws the exit code if a row is unusable, or if a retry skips it. The
  /// command has printed the reason to skip it.
  func run() throws {
    var (unusable, skipped) = (0, 0)
    while let row = plan.next() {
      if row.kept != nil { skipped += 1 } else if !show(row) { unusable += 1 }
      plan.finish(row)
    }
    if let failure = plan.failure { throw failure }
    if skipped > 0 { throw ExitCode.temporaryFailure }
    if unusable > 0 { throw ExitCode.failure }
  }

  /// Prints the lines of `row`. If it is unusable, prints the reason on standard error and returns false.
  private func show(_ row: PlannedRow) -> Bool {
    do throws(FetchFailure) {
      for line in try lines(of: row) { print(line.map(\.printable).joined(separator: "\t")) }
      return true
    } catch {
      let message = Redaction.message(error.message, about: row.entry.urls)
      ProgressOutput.standardError.write("thumbs: \(message.printable)\n")
      return false
    }
  }

  /// The file and the URL of each thumbnail.
  private func lines(of row: PlannedRow) throws(FetchFailure) -> [[String]] {
    let request = try row.request(headerFields: [:], demand: demand)
    try files.check(SourceURL(request.url))
    guard let name = row.name else { return [] }
    let url = Redaction.url(request.url)
    return row.files.map { ["\(directory)/\(name.fileName(of: $0))", url] }
  }
}
