import ArgumentParser

/// The cause of the end of a run, which determines the exit status of the process.
enum RunEnding: Hashable, Sendable {
  /// Every row was handled.
  case finished(Summary)
  /// A signal stopped the run.
  case signal(Int32)
  /// Output could not be written.
  case output(OutputError)
  /// A manifest could not be read to its end.
  case manifest(ManifestError)

  /// Chooses the most important cause: a signal, then an output error, then a manifest error.
  init(signal: Int32?, output: OutputError?, manifest: ManifestError?, _ summary: Summary) {
    if let signal {
      self = .signal(signal)
    } else if let output {
      self = .output(output)
    } else if let manifest {
      self = .manifest(manifest)
    } else {
      self = .finished(summary)
    }
  }

  /// The exit status of the process.
  var exitCode: ExitCode {
    switch self {
    case .finished(let summary): ExitCode(summary.exitCode)
    case .signal(let number): .signal(number)
    case .output: .ioError
    case .manifest: .dataError
    }
  }

  /// The message to print after the summary; nil if no message is needed. A broken pipe gets no message, because a
  /// reader that closes the report early has simply seen enough.
  var message: String? {
    switch self {
    case .output(let error) where !error.isBrokenPipe: "\(error)"
    case .manifest(let error): "\(error)"
    case .finished, .signal, .output: nil
    }
  }
}
