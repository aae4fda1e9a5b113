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
  /// A limit of the run was reached before every row had ended.
  case limit(RunLimit)
  /// Every row was handled and succeeded, but the retried report lacks rows of its run, or does not prove that it has
  /// all of them.
  case missingRows

  /// Chooses the most important cause: a signal, then an output error, then a manifest error, then a limit.
  init(signal: Int32?, output: OutputError?, manifest: ManifestError?, limit: RunLimit? = nil, _ summary: Summary) {
    if let signal {
      self = .signal(signal)
    } else if let output {
      self = .output(output)
    } else if let manifest {
      self = .manifest(manifest)
    } else if let limit {
      self = .limit(limit)
    } else {
      self = .finished(summary)
    }
  }

  /// The limit that ended the run, if one did.
  var limit: RunLimit? { if case .limit(let limit) = self { limit } else { nil } }

  /// The exit status of the process.
  var exitCode: ExitCode {
    switch self {
    case .finished(let summary): ExitCode(summary.exitCode)
    case .signal(let number): .signal(number)
    case .output: .ioError
    case .manifest: .dataError
    case .limit, .missingRows: .temporaryFailure
    }
  }

  /// The message to print after the summary; nil if no message is needed. A broken pipe gets no message, because a
  /// reader that closes the report early has simply seen enough. Neither does a limit, which the summary names.
  var message: String? {
    switch self {
    case .output(let error) where !error.isBrokenPipe: "\(error)"
    case .manifest(let error): "\(error)"
    case .finished, .signal, .output, .limit, .missingRows: nil
    }
  }
}
