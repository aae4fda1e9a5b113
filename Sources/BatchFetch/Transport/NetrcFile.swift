internal import Foundation
internal import ImageCache

/// What a file in the format of `.netrc` says of hosts, as far as cache keys need it: who reads the credentials for a
/// request is libcurl. In doubt a host counts as named: that costs a download, and the opposite could hand private bytes
/// to those who may not have them.
struct NetrcFile {
  /// What follows each `machine` with its name in lower case, and each `default` with an empty one.
  private var entries: [(host: String, words: [String])] = []

  /// Nil for a file that cannot be read, which adds credentials to nothing.
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

  /// A hash of everything that the file says of `host`; nil where it does not name it.
  func digest(for host: String) -> String? {
    let words = entries.filter { $0.host == host.lowercased() || $0.host.isEmpty }.flatMap { [$0.host] + $0.words }
    return words.isEmpty ? nil : BodyDigest(of: Array(words.joined(separator: "\0").utf8)).description
  }

  /// The words between blanks. One in quotation marks may hold blanks, and marks after a backslash.
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
