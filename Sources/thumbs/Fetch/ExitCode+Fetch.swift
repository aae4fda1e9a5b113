import ArgumentParser

extension ExitCode {
  /// A manifest cannot be read: `EX_DATAERR`.
  static let dataError = ExitCode(65)
  /// Output cannot be created: `EX_CANTCREAT`.
  static let cannotCreate = ExitCode(73)
  /// Reading or writing failed on the way: `EX_IOERR`.
  static let ioError = ExitCode(74)

  /// Ended by a signal, as shells report it.
  static func signal(_ number: Int32) -> ExitCode { ExitCode(128 + number) }

  /// This code, after `message` is said on standard error.
  func saying(_ message: some CustomStringConvertible) -> ExitCode {
    ProgressOutput.standardError.write("thumbs: \(Redaction.message("\(message)").printable)\n")
    return self
  }
}
