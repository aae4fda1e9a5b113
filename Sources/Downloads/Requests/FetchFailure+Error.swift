extension FetchFailure {
  /// Creates the failure for an error that a closure of the program has thrown. A ``FetchFailure`` stays as it is; any
  /// other error becomes `request_failed`.
  init(thrown error: any Error) {
    if let failure = error as? FetchFailure {
      self = failure
    } else {
      self.init(.requestFailed, "The request could not be made: \(error)")
    }
  }

  /// Returns the result of `body`, and turns the errors that it throws into failures.
  static func catching<Value>(_ body: () throws -> Value) throws(FetchFailure) -> Value {
    do {
      return try body()
    } catch {
      throw FetchFailure(thrown: error)
    }
  }
}
