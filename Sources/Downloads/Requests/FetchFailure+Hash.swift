extension FetchFailure {
  /// Creates the failure of a caller who expects other bytes than those of `hash`.
  package init(hash: BodyDigest, expected: BodyDigest, httpStatus: Int?, attempts: Int) {
    self.init(
      .hashMismatch, "The file has the SHA-256 \(hash), but \(expected) is expected.", httpStatus: httpStatus,
      attempts: attempts)
  }
}
