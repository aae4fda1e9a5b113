extension FetchFailure {
  /// The failure of a request that a closure of the caller could not make: its own failure, or `request_failed`.
  init(causedBy error: any Error) {
    switch error {
    case let failure as FetchFailure: self = failure
    case is CancellationError: self = .cancelled
    default: self.init(.requestFailed, "The request could not be made: \(error)")
    }
  }
}
