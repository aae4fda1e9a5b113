import CXXHash
import Synchronization

/// The name of a spec in the cache: its ``ThumbnailSpec/cacheText`` with a hash of it.
struct SpecName: Hashable, Sendable {
  let text: String
  let hash: UInt64

  init(_ spec: ThumbnailSpec) {
    var text = spec.cacheText
    hash = text.withUTF8 { xxh3_64($0.baseAddress, $0.count, 0) }
    self.text = text
  }
}

/// Remembers the names of the specs in use, because making a name costs as much as a lookup on disk.
final class SpecNames: Sendable {
  private static let limit = 256
  private let names = Mutex<[ThumbnailSpec: SpecName]>([:])

  /// Returns the name of `spec`.
  func name(of spec: ThumbnailSpec) -> SpecName {
    names.withLock { names in
      if let name = names[spec] { return name }
      if names.count == Self.limit { names = [:] }
      let name = SpecName(spec)
      names[spec] = name
      return name
    }
  }
}
