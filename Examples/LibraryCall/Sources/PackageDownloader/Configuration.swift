import Downloads
import Foundation

/// The content of the configuration file: the packages to download.
struct Configuration: Decodable, Sendable {
  struct Package: Decodable, Sendable {
    let url: String
    let sha256: String
    let length: Int

    /// The name of the file.
    var name: String { url.split(separator: "/").last.map(String.init) ?? "package" }

    var expected: ExpectedFile { ExpectedFile(digest: BodyDigest(sha256), length: length) }
  }

  let packages: [Package]

  init(contentsOf file: URL) throws {
    self = try JSONDecoder().decode(Configuration.self, from: Data(contentsOf: file))
  }
}
