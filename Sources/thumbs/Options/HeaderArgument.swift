import ArgumentParser

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
