import ArgumentParser
import BatchFetch
import Foundation
import HTTPTypes

/// The file of `--hosts`: rules for hosts, as a JSON object.
///
///     {"images.example": {"rate": "5/s", "per-host": 2, "headers": {"Referer": "https://images.example/"}},
///      "*.cdn.example": {"per-host": 16, "user-agent": "robot/1"}, "*": {"rate": "10/s"}}
enum HostsFile {
  /// The maximum length of the file in bytes.
  private static let longest = 16 << 20

  /// Reads the rules in the file at `path`, which may be a pipe.
  ///
  /// - Throws: A `ValidationError` with the file, the place in it, the reason and the remedy.
  static func rules(path: String) throws -> HostRules {
    do {
      return try rules(ByteSource.open(path, expecting: "a JSON file").bytes(limit: longest), name: path)
    } catch let error as InputError {
      throw ValidationError("--hosts \(error)")
    } catch let flaw as HostsError {
      throw ValidationError("--hosts \(path)\(flaw.place): \(flaw.reason).")
    }
  }

  private static func rules(_ bytes: [UInt8], name: String) throws -> HostRules {
    if bytes.allSatisfy({ $0 <= 0x20 }) { throw HostsError(reason: "is empty; a file without settings contains {}") }
    do throws(ParseError) {
      // Foundation's decoder reports neither the position of a syntax error nor a repeated key.
      let value = try JSONDocument.parse(bytes)
      guard value is [String: Any] else { throw ParseError(reason: "the top level of the JSON is not an object") }
    } catch {
      throw InputError(name, at: error.place(in: bytes), error.reason)
    }
    if let path = JSONKeyScanner.repeatedKey(in: bytes) {
      let reason = "\(path[path.count - 1].quotedKey) occurs twice; keep one of them"
      throw HostsError(keys: Array(path.dropLast()), reason: reason)
    }
    do {
      return try JSONDecoder().decode(HostsDocument.self, from: Data(bytes)).rules
    } catch let error as DecodingError {
      throw HostsError(reason: "not valid JSON: \(error)")
    }
  }
}

/// The top level of the file of `--hosts`: settings by host.
private struct HostsDocument: Decodable {
  private(set) var rules = HostRules()

  init(from decoder: any Decoder) throws {
    let hosts = try decoder.container(keyedBy: HostsKey.self)
    for key in hosts.sortedKeys {
      let pattern: HostPattern
      do throws(FetchFailure) {
        pattern = try HostPattern(key.stringValue)
      } catch {
        let forms = "images.example, images.example:8443, *.cdn.example or *"
        throw HostsError(keys: [key.stringValue], reason: "not a host; give one such as \(forms)")
      }
      guard rules[pattern] == nil else {
        throw HostsError(keys: [key.stringValue], reason: "the host \(pattern) occurs twice; keep one entry")
      }
      rules[pattern] = try HostSettings(hosts, key).rule
    }
  }
}

/// The settings of one host in the file of `--hosts`.
private struct HostSettings {
  private enum Setting: String, CaseIterable {
    case rate, perHost = "per-host", userAgent = "user-agent", headers
  }

  private(set) var rule = HostRule()
  private let host: String
  private let values: KeyedDecodingContainer<HostsKey>

  init(_ hosts: KeyedDecodingContainer<HostsKey>, _ key: HostsKey) throws {
    host = key.stringValue
    guard let values = try? hosts.nestedContainer(keyedBy: HostsKey.self, forKey: key) else {
      throw HostsError(keys: [host], reason: "give an object of settings such as {\"rate\": \"5/s\"}")
    }
    self.values = values
    for key in values.sortedKeys {
      guard let setting = Setting(rawValue: key.stringValue) else {
        let names = Setting.allCases.map(\.rawValue).joined(separator: ", ")
        throw HostsError(keys: [host, key.stringValue], reason: "there is no such setting; the settings are \(names)")
      }
      try take(setting, key)
    }
  }

  private mutating func take(_ setting: Setting, _ key: HostsKey) throws {
    do {
      switch setting {
      case .rate: rule.rate = try PolitenessOptions.rate(text(key, or: "give a string such as \"5/s\""))
      case .perHost: rule.perHost = try count(key)
      case .userAgent: try add("User-Agent", HeaderOption.value(text(key, or: "give a string")))
      case .headers: try addHeaders(key)
      }
    } catch let error as ValidationError {
      throw HostsError(keys: [host, key.stringValue], reason: error.message)
    }
  }

  private func text(_ key: HostsKey, or remedy: String) throws -> String {
    guard let text = try? values.decode(String.self, forKey: key) else { throw ValidationError(remedy) }
    return text
  }

  private func count(_ key: HostsKey) throws -> Int {
    // A number beyond Int cannot be decoded; the text of 0 is rejected with the valid range.
    try Count.positive("\((try? values.decode(Int.self, forKey: key)) ?? 0)")
  }

  private mutating func addHeaders(_ key: HostsKey) throws {
    guard let headers = try? values.decode([String: String].self, forKey: key) else {
      throw ValidationError("give an object of strings such as {\"Referer\": \"https://images.example/\"}")
    }
    for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
      do {
        // A colon in the name would end it.
        let header = try HeaderOption("\(name.replacing(":", with: " ")): \(value)")
        try add(header.name, header.value)
      } catch let error as ValidationError {
        throw HostsError(keys: [host, key.stringValue, name], reason: error.message)
      }
    }
  }

  private mutating func add(_ name: String, _ value: String) throws {
    guard let name = HTTPField.Name(name) else { throw ValidationError("the name is not valid") }
    if rule.headerFields.contains(name) { throw ValidationError("\(name) is set twice; keep one of them") }
    rule.headerFields[name] = value
  }
}

/// Any key of a JSON object.
private struct HostsKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer<HostsKey> {
  /// The keys in alphabetical order, so that of several errors the same one is always reported.
  fileprivate var sortedKeys: [HostsKey] { allKeys.sorted { $0.stringValue < $1.stringValue } }
}

/// An error in a valid JSON text.
private struct HostsError: Error, Hashable, Sendable {
  /// The keys that lead to the error, outermost first.
  var keys: [String] = []
  /// The description of the error: the end of a sentence, without its period.
  var reason: String

  /// The place in words, such as `, "images.example", "rate"`.
  var place: String { keys.map { ", " + $0.quotedKey }.joined() }
}

extension String {
  /// The text in quotation marks, cut to 100 characters.
  fileprivate var quotedKey: String { "\"\(prefix(100))\"" }
}

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
