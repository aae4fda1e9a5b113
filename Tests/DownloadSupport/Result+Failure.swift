extension Result {
  /// The failure; nil for a success.
  package var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}

extension Result {
  /// Creates the result of running `body`.
  package init(of body: () async throws(Failure) -> Success) async {
    do throws(Failure) {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }
}
