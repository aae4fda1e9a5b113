import Foundation

/// A temporary directory, removed with the last reference to it.
public final class TemporaryDirectory: Sendable {
  public let path: String

  public init() throws {
    path = NSTemporaryDirectory() + "thumbs-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Returns the path of the file `name` in the directory.
  public func path(_ name: String) -> String { path + "/" + name }

  /// Writes the file `name` and returns its path.
  public func write(_ text: String, as name: String) throws -> String {
    try write(Array(text.utf8), as: name)
  }

  public func write(_ bytes: [UInt8], as name: String) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
    return path(name)
  }

  /// Returns the names of all files in the directory, including hidden ones.
  public func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }
}
