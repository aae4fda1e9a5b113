extension ImageError {
  /// The failure of an image in `format`, for which no process could be started or a process has failed.
  init(_ failure: DecoderFailure, for format: IsolatedFormat) {
    switch failure {
    case .missing:
      self = .unsupported(format, "the program thumbs-decode; install the package thumbs-decoders")
    case .unprotected, .start: self = .unsupported(format, "the program thumbs-decode, but \(failure.reason)")
    case .timeout, .memory, .misbehavior, .refusal: self.init(failure, of: "thumbs-decode")
    }
  }

  /// The failure of an image in `format` whose decoder was built without its library.
  init(without format: IsolatedFormat) {
    self = .unsupported(format, "\(format.library), which was missing when thumbs-decode was built")
  }

  private static func unsupported(_ format: IsolatedFormat, _ need: String) -> ImageError {
    ImageError(.unsupportedFormat, "\(format.name) needs \(need).", origin: .machine)
  }
}
