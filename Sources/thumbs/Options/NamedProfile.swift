import ArgumentParser
import ImageCache

/// A profile of inks with the file that it comes from.
struct NamedProfile: Hashable, Sendable {
  /// The path of the file, as given on the command line.
  let path: String
  let profile: InkProfile

  /// The maximum length of a profile in bytes. Those of printing conditions have up to 3 MB.
  private static let longest = 16 << 20

  /// Reads the profile in the file at `path`.
  ///
  /// - Throws: A `ValidationError` with the file and the reason.
  init(contentsOf path: String) throws {
    do {
      let bytes = try ByteSource.open(path, expecting: "an ICC profile").bytes(limit: Self.longest)
      guard let bytes else { throw ValidationError("\(path) is longer than \(ByteSize(count: Self.longest)).") }
      (self.path, profile) = (path, try InkProfile(bytes))
    } catch let error as ManifestError {
      throw ValidationError("\(error)")
    } catch let error as ImageError {
      throw ValidationError("\(path): \(error.message)")
    }
  }
}
