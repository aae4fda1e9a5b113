/// A system library in use, and its version.
public struct LibraryVersion: Hashable, Sendable {
  /// The name, such as `libpng`.
  public var name: String
  /// The version, such as `1.6.39`.
  public var version: String

  /// Creates the version of a library.
  public init(_ name: String, _ version: String) {
    (self.name, self.version) = (name, version)
  }
}
