import ArgumentParser

extension ExitCode {
  /// `EX_DATAERR`: a manifest cannot be read.
  static let dataError = ExitCode(65)
  /// `EX_CANTCREAT`: output cannot be created.
  static let cannotCreate = ExitCode(73)
  /// `EX_IOERR`: reading or writing failed during the run.
  static let ioError = ExitCode(74)

  /// `EX_TEMPFAIL`: the run is worth a retry.
  static let temporaryFailure = ExitCode(75)

  /// The exit code after a signal, by the convention of shells: 128 plus its number.
  static func signal(_ number: Int32) -> ExitCode { ExitCode(128 + number) }

  /// Prints `message` on standard error and returns this code.
  func printing(_ message: some CustomStringConvertible) -> ExitCode {
    ProgressOutput.standardError.write("thumbs: \(Redaction.message("\(message)").printable)\n")
    return self
  }
}
