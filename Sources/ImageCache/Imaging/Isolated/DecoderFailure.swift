/// The reason why a process that decodes, encodes or renders gave no result. A process that has started must end.
enum DecoderFailure: Error, Hashable, Sendable {
  /// The program is not installed.
  case missing
  /// There are too few protections: the system offers too few, or the program was built without the filter.
  case unprotected(isBuiltWithFilter: Bool)
  /// The process did not start. The reason is the end of a sentence about it.
  case start(String)
  /// The process did not reply in time.
  case timeout
  /// The process refused the request, for a reason that is a sentence without its period.
  case refusal(ImageError.Code, String)
  /// The process ended because it had reached the limit of its memory.
  case memory
  /// The process ended or did something else that it should not do. The reason is the end of a sentence about it.
  case misbehavior(String)

  /// The code of an image for which it failed.
  var code: ImageError.Code {
    switch self {
    case .missing, .unprotected, .start: .unsupportedFormat
    case .timeout, .memory: .decodeLimit
    case .misbehavior: .decodeError
    case .refusal(let code, _): code
    }
  }

  /// The end of a sentence about the process.
  var reason: String {
    switch self {
    case .missing: "it is not installed"
    case .unprotected(isBuiltWithFilter: true):
      "this system does not allow seccomp filters, which protect against it; --unsafe-decoders does without them"
    case .unprotected(isBuiltWithFilter: false):
      "it was built without libseccomp, which protects against it; install libseccomp-dev and build it again"
    case .start(let reason), .misbehavior(let reason): reason
    case .refusal(_, let reason): "it refused: \(reason)"
    case .timeout: "it took too long"
    case .memory: "it ran out of memory"
    }
  }
}

extension ImageError {
  /// The failure of an image for which a process failed.
  init(_ failure: DecoderFailure, of program: String) {
    self.init(failure.code, "The process of \(program) failed: \(failure.reason).", origin: .machine)
  }
}
