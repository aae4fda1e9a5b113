import ArgumentParser

/// The options for the names of output files. A retry does not have them, because the report contains the names.
struct NamingOptions: ParsableArguments {
  @Option(
    name: [.customLong("name-template"), .customLong("name")],
    help: ArgumentHelp(
      "File name pattern. (default: {stem}.{ext}, or {stem}-{spec}.{ext} for several sizes)",
      discussion: """
        Fields: {name} {index} {host} {stem} {hash} {width} {height} {spec} {ext}. {hash:2} is the first two \
        characters of a field of text. A slash makes subdirectories, as in {hash:2}/{hash}.{ext}.
        """,
      valueName: "pattern"),
    transform: { try NameTemplate(argument: $0) })
  var pattern: NameTemplate?

  @Flag(
    help: ArgumentHelp(
      "Leave files of an earlier run alone, without a request, if they were made from the same URL in the same way.",
      discussion: """
        Files prove that by an extended attribute; others are fetched as usual. So are names with {width} or {height}, \
        and all rows with --placeholders. The report calls their origin 'existing'.
        """))
  var skipExisting = false

  /// Returns the file name pattern for `sizeCount` sizes.
  ///
  /// - Throws: A `ValidationError` if the pattern gives two sizes of an image the same name.
  func template(sizeCount: Int) throws -> NameTemplate {
    guard let pattern else { return sizeCount > 1 ? .severalSizes : .oneSize }
    if sizeCount > 1, !pattern.contains(.spec) {
      throw ValidationError(
        "--name-template '\(pattern)' gives all sizes of an image the same name; add {spec}, as in "
          + "{stem}-{spec}.{ext}.")
    }
    return pattern
  }
}

extension NameTemplate {
  /// Parses a pattern; an error in it becomes a `ValidationError`.
  init(argument: String) throws {
    do throws(NameTemplateError) {
      try self.init(argument)
    } catch {
      throw ValidationError("\(error)")
    }
  }
}
