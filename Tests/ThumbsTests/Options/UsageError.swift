import ArgumentParser

@testable import thumbs

/// The message of the usage error that `body` throws; nil where it throws none.
func usageError(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch {
    return Thumbs.message(for: error)
  }
}
