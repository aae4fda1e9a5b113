import Foundation

/// A directory of one test, removed with the last reference.
public final class TemporaryDirectory: Sendable {
  public let path: String

  public init() throws {
    path = NSTemporaryDirectory() + "thumbs-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// The path of `name` inside.
  public func path(_ name: String) -> String { path + "/" + name }

  /// Writes the file `name` and returns its path.
  public func write(_ text: String, as name: String) throws -> String {
    try write(Array(text.utf8), as: name)
  }

  public func write(_ bytes: [UInt8], as name: String) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
    return path(name)
  }

  /// The names of all files inside, hidden ones too.
  public func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }
}
