import ArgumentParser
import ImageCache

/// A file with digests, one per line.
struct DigestFile: Hashable, Sendable {
  /// The path of the file, as given on the command line.
  let path: String
  let digests: Set<BodyDigest>

  /// Reads the file at `path`, which must not be standard input: a manifest may be read from there.
  ///
  /// - Throws: A `ValidationError` with the file, the line and the reason.
  init(contentsOf path: String) throws {
    self.path = path
    if path == "-" { throw ValidationError("give a file; standard input is for a manifest") }
    do {
      var lines = LineReader(try .open(path, expecting: "a list of SHA-256 digests").unpacked())
      var digests: Set<BodyDigest> = []
      while let line = try lines.next(skipping: .spacesAndTabs) {
        guard let text = Self.digestText(line.bytes ?? []) else { continue }
        guard let digest = BodyDigest(text) else {
          throw InputError(path, at: .line(line.number), "does not begin with a SHA-256 digest of 64 digits")
        }
        digests.insert(digest)
      }
      self.digests = digests
    } catch let error as InputError {
      throw ValidationError("\(error)")
    }
  }

  /// Returns the first word of a line; nil if it has none, or is a comment.
  private static func digestText(_ line: [UInt8]) -> String? {
    let word = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace).first.map(String.init)
    return word.flatMap { $0.hasPrefix("#") ? nil : $0 }
  }
}
