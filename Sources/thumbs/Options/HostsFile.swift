import ArgumentParser
import BatchFetch
import Foundation

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
      return try rules(bytes(path: path), name: path)
    } catch let error as ManifestError {
      throw ValidationError("--hosts \(error)")
    } catch let flaw as HostsFlaw {
      throw ValidationError("--hosts \(path)\(flaw.place): \(flaw.reason).")
    }
  }

  private static func bytes(path: String) throws -> [UInt8] {
    let bytes = try ByteSource.open(path, expecting: "a JSON file").bytes(limit: longest)
    guard let bytes else { throw HostsFlaw(reason: "is longer than \(ByteSize(count: longest))") }
    return bytes
  }

  private static func rules(_ bytes: [UInt8], name: String) throws -> HostRules {
    if bytes.allSatisfy({ $0 <= 0x20 }) { throw HostsFlaw(reason: "is empty; a file without settings contains {}") }
    do throws(DocumentFlaw) {
      // Foundation's decoder reports neither the position of a syntax error nor a repeated key.
      let value = try JSONDocument.parse(bytes)
      guard value is [String: Any] else { throw DocumentFlaw(reason: "the top level of the JSON is not an object") }
    } catch {
      throw ManifestError(name, at: error.place(in: bytes), error.reason)
    }
    if let path = JSONKeyScanner.repeatedKey(in: bytes) {
      let reason = "\(path[path.count - 1].quotedKey) occurs twice; keep one of them"
      throw HostsFlaw(keys: Array(path.dropLast()), reason: reason)
    }
    do {
      return try JSONDecoder().decode(HostsDocument.self, from: Data(bytes)).rules
    } catch let error as DecodingError {
      throw HostsFlaw(reason: "not valid JSON: \(error)")
    }
  }
}

/// An error in a valid JSON text.
struct HostsFlaw: Error, Hashable, Sendable {
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
