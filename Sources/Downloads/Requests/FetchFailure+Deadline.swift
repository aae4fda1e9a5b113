extension FetchFailure {
  /// The failure of a request that has no outcome after `limit`.
  package init(pastDeadline limit: Duration, attempts: Int = 0) {
    self.init(.timeoutTotal, "The request took longer than its limit of \(limit).", attempts: attempts)
  }
}
