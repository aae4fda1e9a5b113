import Foundation
import ImageCache

/// Prints the size and the brightness of each photo in a folder. Thumbnails are kept in a cache, so an unchanged photo
/// is read only once: `PhotoFolder FOLDER CACHE`
@main struct PhotoFolder {
  private let cache: ThumbnailCache
  private let spec = ThumbnailSpec(width: 64, format: .rgba)

  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else { return print("Usage: PhotoFolder FOLDER CACHE") }
    let folder = PhotoFolder(cache: ThumbnailCache(ThumbnailCache.Configuration(directory: arguments[2])))
    try await folder.show(URL(filePath: arguments[1]))
    folder.cache.flush()
    print(folder.cache.counters.diskHits, "of them from the cache")
  }

  /// Makes the thumbnails of all photos, as many at a time as there are processors, and prints them by name.
  private func show(_ folder: URL) async throws {
    let photos = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    let lines = try await withThrowingTaskGroup(of: String.self) { group in
      for photo in photos { group.addTask { try await line(for: photo) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for line in lines.sorted() { print(line) }
  }

  private func line(for photo: URL) async throws -> String {
    do {
      let pixels = try await pixels(of: photo)
      return "\(photo.lastPathComponent): \(pixels?.size.description ?? "no pixels"), \(pixels?.brightness ?? 0) %"
    } catch let error as ImageError {
      return "\(photo.lastPathComponent): \(error.code.rawValue), \(error.message)"
    }
  }

  /// Returns the pixels of a thumbnail. The name of a photo in the cache has its time of change, so that a photo that
  /// was changed is read again.
  private func pixels(of photo: URL) async throws -> Pixels? {
    let changed = try photo.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
    let name = "\(photo.path) \(changed ?? .distantPast)"
    let set = try await cache.thumbnails(of: name, specs: [spec]) {
      try Data(contentsOf: photo)
    }
    return set[0].pixels
  }
}

extension Pixels {
  /// The mean of red, green and blue in percent.
  fileprivate var brightness: Int {
    let sum = bytes.indices.reduce(0) { $0 + ($1 % 4 == 3 ? 0 : Int(bytes[$1])) }
    return 100 * sum / (255 * 3 * size.area)
  }
}
