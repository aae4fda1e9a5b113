import ArgumentParser
import BatchFetch
import ImageCache
import Synchronization

/// The image of `--fallback`, which failed rows get as their file.
final class FallbackImage: Sendable {
  /// The maximum length of the file in bytes.
  private static let longest = 32 << 20
  /// The maximum number of thumbnails that are kept. More are rendered again for each row.
  private static let capacity = 64

  /// The path of the file, as given on the command line.
  let path: String
  private let bytes: [UInt8]
  private let renderer = Renderer()
  private let thumbnails = Mutex<[ThumbnailSpec: Thumbnail]>([:])

  /// Reads the image in the file at `path`, and decodes it once.
  ///
  /// - Throws: A `ValidationError` with the file and the reason.
  init(contentsOf path: String) throws {
    self.path = path
    do {
      bytes = try ByteSource.open(path, expecting: "an image").bytes(limit: Self.longest)
      _ = try renderer.render(bytes, specs: [ThumbnailSpec(width: 16)])
    } catch let error as InputError {
      throw ValidationError("\(error)")
    } catch let error as ImageError {
      throw ValidationError("\(path): \(error.message)")
    }
  }

  /// Returns the thumbnails of the image, one per spec. Throws for a spec that cannot be rendered.
  func thumbnails(_ specs: [ThumbnailSpec]) throws(ImageError) -> [Thumbnail] {
    var result: [Thumbnail] = []
    for spec in specs { result.append(try thumbnail(spec)) }
    return result
  }

  /// Under the lock, so that rows that fail at the same time render it only once.
  private func thumbnail(_ spec: ThumbnailSpec) throws(ImageError) -> Thumbnail {
    try thumbnails.withLock { thumbnails throws(ImageError) in
      if let known = thumbnails[spec] { return known }
      guard let thumbnail = try renderer.render(bytes, specs: [spec]).thumbnails.first else {
        throw ImageError(.decodeError, "The fallback has no image.")
      }
      if thumbnails.count < Self.capacity { thumbnails[spec] = thumbnail }
      return thumbnail
    }
  }
}

// A placeholder, a hash and an original are made and kept like thumbnails, but they are no files of the output.

extension [ThumbnailSpec] {
  /// The specs of files.
  var files: [ThumbnailSpec] { filter { $0.format.output?.isFile ?? true } }

  /// The longest side of the files in pixels; 0 without any.
  var longestSide: Int { files.map { Swift.max($0.pixelBox.width, $0.pixelBox.height) }.max() ?? 0 }
}

extension OutputFormat {
  /// True for the format of a file of the output.
  fileprivate var isFile: Bool { ![.placeholder, .perceptualHash, .original].contains(self) }
}

extension ThumbnailSet {
  /// The thumbnails that are files.
  var files: [Thumbnail] { thumbnails.filter(\.format.isFile) }
}

extension ListedSource {
  /// The thumbnails that are files.
  var files: [Thumbnail] { thumbnails.filter(\.format.isFile) }

  /// Reads the placeholder of the source in the cache of `inspector`; nil if the source has no placeholder.
  func placeholder(in inspector: CacheInspector) throws -> Placeholder? {
    guard thumbnails.contains(where: { $0.spec == .placeholder }) else { return nil }
    return try inspector.thumbnail(.placeholder, of: key, url: source.url)?.placeholder
  }

  /// Reads the perceptual hash of the source in the cache of `inspector`; nil if the source has none.
  func perceptualHash(in inspector: CacheInspector) throws -> PerceptualHash? {
    guard thumbnails.contains(where: { $0.spec == .perceptualHash }) else { return nil }
    return try inspector.thumbnail(.perceptualHash, of: key, url: source.url)?.perceptualHash
  }
}
