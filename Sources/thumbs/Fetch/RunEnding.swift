import ArgumentParser

/// The end of a run, which decides the exit status of the process.
enum RunEnding: Hashable, Sendable {
  /// Every row was handled.
  case finished(Summary)
  /// A signal stopped it.
  case signal(Int32)
  /// Nothing more could be written.
  case output(OutputError)
  /// A manifest could not be read to its end.
  case manifest(ManifestError)

  /// Chooses the cause that counts, where there are several.
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

  /// The message that a person needs in addition to the summary; nil for none. A reader of the report that went away has
  /// seen enough, which is not an error to report.
  var message: String? {
    switch self {
    case .output(let error) where !error.isBrokenPipe: "\(error)"
    case .manifest(let error): "\(error)"
    case .finished, .signal, .output: nil
    }
  }
}
