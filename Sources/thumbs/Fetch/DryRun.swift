import ArgumentParser
import BatchFetch
import HTTPTypes
import ImageCache

/// Lists what a run would write: one line per thumbnail, with its file and URL. Downloads and writes nothing.
struct DryRun {
  var plan: any RowPlan
  var directory: String
  var files: ThumbnailPipeline.FileAccess

  /// Prints the lines on standard output. Throws the exit code if a row is unusable.
  func run() throws {
    var unusable = 0
    while let row = plan.next() {
      defer { plan.finish(row) }
      do throws(FetchFailure) {
        for line in try lines(of: row) { print(line.map(\.printable).joined(separator: "\t")) }
      } catch {
        unusable += 1
        let message = Redaction.message(error.message, about: row.entry.urls)
        ProgressOutput.standardError.write("thumbs: \(message.printable)\n")
      }
    }
    if let failure = plan.failure { throw failure }
    if unusable > 0 { throw ExitCode.failure }
  }

  /// The file and the URL of each thumbnail.
  private func lines(of row: PlannedRow) throws(FetchFailure) -> [[String]] {
    let request = try row.request(headerFields: [:])
    try files.check(SourceURL(request.url))
    guard let name = row.name else { return [] }
    let url = Redaction.url(request.url)
    return row.specs.map { ["\(directory)/\(name.fileName(of: $0))", url] }
  }
}
