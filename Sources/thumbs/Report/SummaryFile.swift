/// The file of a summary. It is written after the run, and keeps until then what it had.
struct SummaryFile: Sendable {
  let file: NamedFile

  /// Makes `bytes` the whole file; standard output takes them behind what it has.
  func write(_ bytes: [UInt8]) throws(OutputError) {
    file.empty()
    let code = FileDescriptor.writeAll(bytes[...], to: file.descriptor).code
    if code != 0 { throw OutputError(action: .write, path: file.name, code: code) }
  }
}
