internal import ImageCache
public import Testing

/// Requires that `thumbs-decode` was built with all its libraries. Otherwise the suite, or test, fails at its start and
/// names the missing packages, in place of one failure for each of its tests.
public struct DecoderLibraries: SuiteTrait, TestTrait, TestScoping {
  private static let missing = DecoderCondition(measuring: DecoderIsolation()).missingPackages

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard Self.missing.isEmpty else {
      let packages = Self.missing.joined(separator: " ")
      Issue.record("thumbs-decode was built without these packages: \(packages). Run `make setup`, and build again.")
      return
    }
    try await function()
  }
}

extension Trait where Self == DecoderLibraries {
  /// Requires all libraries of `thumbs-decode`.
  public static var decoderLibraries: Self { Self() }
}
