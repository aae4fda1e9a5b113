internal import Foundation

/// The hosts of a `.netrc` file, as far as cache keys need them; libcurl itself reads the credentials for requests.
///
/// In doubt, a host counts as listed. A wrong match costs one download; a missed one could serve private bytes to a
/// caller without the credentials.
struct NetrcFile {
  /// The words after each `machine`, with its name in lower case, and after each `default`, with an empty name.
  private var entries: [(host: String, words: [String])] = []

  /// Reads the file at `path`; nil if it cannot be read, and then no request gets credentials.
  init?(at path: String) {
    guard let bytes = FileManager.default.contents(atPath: path) else { return nil }
    self.init(String(decoding: bytes, as: UTF8.self))
  }

  init(_ text: String) {
    var isName = false
    for word in Self.words(of: text) {
      if isName {
        let name = word.lowercased()
        entries.append((host: name.hasSuffix(".") ? String(name.dropLast()) : name, words: []))
        isName = false
      } else if word == "machine" {
        isName = true
      } else if word == "default" {
        entries.append((host: "", words: []))
      } else if !entries.isEmpty {
        entries[entries.count - 1].words.append(word)
      }
    }
  }

  /// Returns a hash of all entries for `host`; nil if the file has no entry for it.
  func digest(for host: String) -> String? {
    let words = entries.filter { $0.host == host.lowercased() || $0.host.isEmpty }.flatMap { [$0.host] + $0.words }
    return words.isEmpty ? nil : BodyDigest(of: Array(words.joined(separator: "\0").utf8)).description
  }

  /// Returns the words between white space. A word in quotation marks may contain white space, and quotation marks
  /// after a backslash.
  private static func words(of text: String) -> [String] {
    var (words, word): ([String], String?) = ([], nil)
    var (isQuoted, isEscaped) = (false, false)
    for character in text {
      if isEscaped {
        word?.append(character)
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"", isQuoted || word == nil {
        isQuoted.toggle()
        word = word ?? ""
      } else if character.isWhitespace, !isQuoted {
        if let word { words.append(word) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    return words + (word.map { [$0] } ?? [])
  }
}
