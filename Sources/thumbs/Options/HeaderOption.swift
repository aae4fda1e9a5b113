import ArgumentParser

/// A request header field as written on the command line: `Referer: https://example.com/`.
struct HeaderOption: Hashable, Sendable {
  /// The field's name.
  var name: String
  /// The field's value, without surrounding white space; may be empty.
  var value: String
}

extension HeaderOption {
  /// Parses `Name: value`. The name must be a token (RFC 9110, section 5.6.2); the value must not contain control
  /// characters other than tabs.
  init(_ text: String) throws {
    guard let colon = text.firstIndex(of: ":") else { throw ValidationError("give a field such as 'Name: value'") }
    name = String(text[..<colon])
    value = try Self.value(String(text[text.index(after: colon)...]))
    guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenCharacter) else {
      throw ValidationError("the name before the colon may contain only letters, digits and -")
    }
    // An underscore counts as a hyphen: servers that pass fields on as variables, as in CGI, cannot tell the two apart.
    guard !Self.isReserved(name.lowercased().replacing("_", with: "-")) else {
      throw ValidationError("\(name) is set by thumbs itself and cannot be overridden")
    }
  }

  /// True for fields about message framing, the connection, conditions or ranges. If one row could set them, it would
  /// break other rows that share its connection or download.
  private static func isReserved(_ name: String) -> Bool {
    reserved.contains(name) || name.hasPrefix("proxy-") || name.hasPrefix("if-")
  }

  private static let reserved: Set<String> = [
    "connection", "content-length", "expect", "http2-settings", "keep-alive", "range", "te", "trailer",
    "transfer-encoding", "upgrade",
  ]

  /// Parses a field value (RFC 9110, section 5.5): trims white space and rejects control characters other than tabs.
  static func value(_ text: String) throws -> String {
    let value = text.trimmingWhitespace()
    guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
      throw ValidationError("the value must not contain line breaks or other control characters")
    }
    return value
  }

  private static func isTokenCharacter(_ byte: UInt8) -> Bool {
    let character = Character(Unicode.Scalar(byte))
    return byte < 0x80 && (character.isLetter || character.isNumber || "!#$%&'*+-.^_`|~".contains(character))
  }
}

/// A value of `--header`: a field, or a file with fields.
enum HeaderArgument: Hashable, Sendable {
  /// A field.
  case field(HeaderOption)
  /// The path of a file with a field per line.
  case file(String)

  /// The name of the option for the header fields of the configuration file, which is not for command lines.
  static let configuredOption = "configured-header"

  /// Parses `Name: value` or `@FILE`.
  init(_ text: String) throws {
    guard text.hasPrefix("@") else {
      self = .field(try HeaderOption(text))
      return
    }
    let path = String(text.dropFirst())
    guard !path.isEmpty, path != "-" else {
      throw ValidationError("give a file name after @, such as @/dev/stdin for standard input")
    }
    self = .file(path)
  }

  /// The path of the file, if it is one.
  var path: String? { if case .file(let path) = self { path } else { nil } }
}

/// A value of `--header-env`: the name of a field, and the environment variable with its value.
struct HeaderVariable: Hashable, Sendable {
  /// The name of the field.
  let name: String
  /// The name of the variable.
  let variable: String

  /// Parses `Name=VARIABLE`.
  init(_ text: String) throws {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, parts[1].wholeMatch(of: #/[A-Za-z_][A-Za-z0-9_]*/#) != nil else {
      throw ValidationError("give the field and the name of a variable, such as Authorization=API_TOKEN")
    }
    (name, variable) = (try HeaderOption("\(parts[0]): x").name, parts[1])
  }

  /// Returns the field with the value that the variable has in `environment`.
  func field(_ environment: [String: String]) throws -> HeaderOption {
    guard let value = environment[variable] else {
      throw ValidationError("--header-env \(name)=\(variable): the environment variable \(variable) is not set.")
    }
    do {
      return try HeaderOption("\(name): \(value)")
    } catch let error as ValidationError {
      throw ValidationError("--header-env \(name)=\(variable): \(error.message).")
    }
  }
}
