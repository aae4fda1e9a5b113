import Synchronization

@testable import thumbs

extension ByteSource {
  /// Returns a source of `bytes` in chunks of at most `step` bytes.
  static func bytes(_ bytes: [UInt8], name: String = "list", step: Int = .max) -> ByteSource {
    let position = Mutex(0)
    return ByteSource(name: name) { buffer in
      position.withLock { position in
        let count = min(step, buffer.count, bytes.count - position)
        for offset in 0..<count { buffer[offset] = bytes[position + offset] }
        position += count
        return count
      }
    }
  }
}

extension LineReader {
  init(text: String, step: Int = .max) {
    self.init(.bytes(Array(text.utf8), step: step))
  }
}

/// Returns all entries of the manifest in `text`, or throws its error.
func entries(_ text: String, _ format: ManifestFormat? = nil, keys: ManifestKeys = ManifestKeys()) throws
  -> [ManifestEntry]
{
  try entries(Array(text.utf8), format, keys: keys)
}

func entries(_ bytes: [UInt8], _ format: ManifestFormat? = nil, keys: ManifestKeys = ManifestKeys()) throws
  -> [ManifestEntry]
{
  let list = ManifestList([try Manifest(LineReader(.bytes(bytes).decodingUTF16()), format: format, keys: keys)])
  let entries = Array(list)
  if let failure = list.failure ?? list.lack { throw failure }
  return entries
}

extension ManifestEntry {
  var url: String? { if case .row(let row) = self { row.url } else { nil } }
  var name: String? {
    switch self {
    case .row(let row): row.name
    case .bad(let row): row.name
    }
  }
  var line: Int? {
    switch self {
    case .row(let row): row.line
    case .bad(let row): row.line
    }
  }
  var reason: String? { if case .bad(let row) = self { row.reason } else { nil } }
}

/// Returns the message of the manifest error that `body` throws; nil if it throws none.
func message(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch {
    return (error as? InputError)?.description
  }
}
