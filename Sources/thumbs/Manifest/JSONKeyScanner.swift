/// Finds a key that occurs twice in an object of a JSON text. Foundation's parsers keep one of the two values and
/// report no error.
struct JSONKeyScanner {
  private struct Level {
    let isObject: Bool
    /// The keys so far.
    var keys: Set<String> = []
    /// The last key.
    var key: String?
  }

  private let bytes: [UInt8]
  private var index = 0
  private var levels: [Level] = []
  /// True if the next string is a key.
  private var isBeforeKey = false

  /// Returns the first repeated key in the valid JSON text `bytes`, after the keys that lead to its object, outermost
  /// first. Returns nil if no key is repeated.
  static func repeatedKey(in bytes: [UInt8]) -> [String]? {
    var scanner = JSONKeyScanner(bytes: bytes)
    while scanner.index < bytes.count {
      if scanner.passToken() { return scanner.levels.compactMap(\.key) }
    }
    return nil
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Passes a string or a single byte. Returns true if it is a repeated key.
  private mutating func passToken() -> Bool {
    switch bytes[index] {
    case UInt8(ascii: "\""): return passString()
    case UInt8(ascii: "{"): open(isObject: true)
    case UInt8(ascii: "["): open(isObject: false)
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      levels.removeLast(min(1, levels.count))
      isBeforeKey = false
    case UInt8(ascii: ","): isBeforeKey = levels.last?.isObject ?? false
    default: break
    }
    index += 1
    return false
  }

  private mutating func open(isObject: Bool) {
    levels.append(Level(isObject: isObject))
    isBeforeKey = isObject
  }

  private mutating func passString() -> Bool {
    let start = index
    repeat {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    } while index < bytes.count && bytes[index] != UInt8(ascii: "\"")
    index = min(index + 1, bytes.count)
    guard isBeforeKey, let key = try? JSONDocument.parse(Array(bytes[start..<index])) as? String else { return false }
    isBeforeKey = false
    levels[levels.count - 1].key = key
    return !levels[levels.count - 1].keys.insert(key).inserted
  }
}
