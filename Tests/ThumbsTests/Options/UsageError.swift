import ArgumentParser

@testable import thumbs

/// Returns the message of the usage error that `body` throws; nil if it throws no error.
func usageError(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch {
    return Thumbs.message(for: error)
  }
}
