import ArgumentParser

/// The limits of a whole run.
struct RunLimitOptions: ParsableArguments {
  @Option(
    name: .customLong("max-run-time"),
    help: ArgumentHelp(
      "Maximum time for the whole run, in seconds. (default: no limit)",
      discussion: "The rows that are left then end as canceled, and the exit status is 75.", valueName: "seconds"),
    transform: { try Count.seconds($0, in: 0.001...31_536_000) })
  var time: Duration?

  @Option(
    name: .customLong("max-run-bytes"),
    help: ArgumentHelp(
      "Maximum size of all downloads together, such as 2GiB. (default: no limit)",
      discussion: """
        A download counts when it is complete, so those in progress may exceed the limit. The rows that are left \
        then end as canceled, and the exit status is 75.
        """,
      valueName: "size"),
    transform: { try RunLimitOptions.size($0) })
  var bytes: ByteSize?

  /// The limits.
  var limits: RunLimits { RunLimits(time: time, bytes: bytes) }

  private static func size(_ text: String) throws -> ByteSize {
    let size = try ByteSize(text)
    guard size.count > 0 else { throw ValidationError("give at least 1 byte, such as 500k, 32MiB or 2GiB") }
    return size
  }
}
