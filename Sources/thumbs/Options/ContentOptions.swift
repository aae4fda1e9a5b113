import ArgumentParser
import BatchFetch
import ImageCache

/// The options about the content of image files.
struct ContentOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Smallest image to accept, in pixels, such as 1024 or 1k. Smaller ones fail as too_few_pixels. (default: any)",
      valueName: "n"),
    transform: { try PixelCount($0) })
  var minPixels: PixelCount?

  @Option(
    help: ArgumentHelp(
      "Reject the image files with these SHA-256 digests, one per line, such as placeholders of a host. Repeatable.",
      discussion: """
        Their rows fail as rejected_hash. A line may have more after the digest, as sha256sum prints it; empty lines \
        and those that begin with # are ignored.
        """,
      valueName: "file"),
    completion: .file(), transform: { try DigestFile(contentsOf: $0) })
  var rejectHash: [DigestFile] = []

  @Flag(
    help: "Fail rows without a SHA-256 as bad_row, so that nothing unexpected is written.")
  var requireHash = false

  /// The rules for the images of a pipeline.
  var rules: ContentRules {
    var rules = ContentRules()
    rules.minPixels = minPixels?.count ?? 0
    rules.rejectedDigests = rejectHash.reduce(into: []) { $0.formUnion($1.digests) }
    return rules
  }

  /// The demand on the rows of a manifest.
  var demand: RowDemand { requireHash ? .digest : .none }
}
