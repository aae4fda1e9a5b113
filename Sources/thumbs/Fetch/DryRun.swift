import ArgumentParser
import BatchFetch
import HTTPTypes
import ImageCache

/// What a run would write: one line a thumbnail, with the file and the address. Nothing is downloaded or written.
struct DryRun {
  var plan: any RowPlan
  var directory: String
  var files: ThumbnailPipeline.FileAccess

  /// Prints the lines on standard output; throws the exit code where a row cannot be fetched.
  func run() throws {
    var unusable = 0
    while let row = plan.next() {
      defer { plan.finish(row) }
      do throws(FetchFailure) {
        for line in try lines(of: row) { print(line.map(\.printable).joined(separator: "\t")) }
      } catch {
        unusable += 1
        let message = Redaction.message(error.message, about: row.entry.addresses)
        ProgressOutput.standardError.write("thumbs: \(message.printable)\n")
      }
    }
    if let failure = plan.failure { throw failure }
    if unusable > 0 { throw ExitCode.failure }
  }

  /// File and address, for each thumbnail.
  private func lines(of row: PlannedRow) throws(FetchFailure) -> [[String]] {
    let request = try row.request(headerFields: [:])
    try files.check(SourceURL(request.url))
    guard let name = row.name else { return [] }
    let url = Redaction.url(request.url)
    return row.specs.map { ["\(directory)/\(name.fileName(of: $0))", url] }
  }
}
