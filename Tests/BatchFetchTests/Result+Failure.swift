extension Result {
  /// The failure; nil for a success.
  var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
