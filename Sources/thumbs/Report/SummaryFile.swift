/// The file of `--summary`. It is written after the run, and keeps its old contents until then.
struct SummaryFile: Sendable {
  let file: NamedFile

  /// Replaces the contents of the file with `bytes`, or appends them to standard output.
  func write(_ bytes: [UInt8]) throws(OutputError) {
    file.empty()
    let code = FileDescriptor.writeAll(bytes[...], to: file.descriptor).code
    if code != 0 { throw OutputError(action: .write, path: file.name, code: code) }
  }
}
