import ArgumentParser
import CTOML
import Glibc

/// The configuration file of the user: defaults for the options, under the same names.
///
///     concurrency = 8
///     size = [64, 128]
///     header = ["Authorization: Bearer ${API_TOKEN}"]
///
///     [cache]
///     format = "json"
struct ConfigurationFile: Sendable {
  /// The maximum length of the file in bytes.
  private static let longest = 1 << 20

  /// The path of the file.
  let path: String
  /// The keys of the file with their values.
  let settings: [ConfigurationSetting]

  /// Reads the file that `environment` names; nil if there is none.
  init?(environment: [String: String]) throws(ConfigurationError) {
    guard let path = Self.path(environment) else { return nil }
    try self.init(path: path)
  }

  /// Returns the path of the file that `environment` names; nil if there is none.
  ///
  /// That is the file of `THUMBS_CONFIG`, which must exist, or none if that is empty or `/dev/null`. Without that
  /// variable, it is `thumbs/config.toml` in `XDG_CONFIG_HOME`, or else in `~/.config`.
  static func path(_ environment: [String: String]) -> String? {
    if let path = environment["THUMBS_CONFIG"] { return ["", "/dev/null"].contains(path) ? nil : path }
    guard let path = standardPath(environment), access(path, F_OK) == 0 else { return nil }
    return path
  }

  /// Reads the file at `path`.
  init(path: String) throws(ConfigurationError) {
    self.path = path
    do {
      try Self.checkOwner(path)
      let bytes = try ByteSource.openRegularFile(path, expecting: "a TOML file").bytes(limit: Self.longest)
      settings = try ConfigurationSetting.all(in: bytes)
    } catch let error as ConfigurationError {
      throw error
    } catch let error as InputError {
      throw ConfigurationError(path: path, reason: error.reason)
    } catch let error as ParseError {
      throw ConfigurationError(path: path, line: error.line, reason: error.reason)
    } catch {
      throw ConfigurationError(path: path, reason: "\(error)")
    }
  }

  /// An XDG directory that is not absolute is ignored, as its specification says.
  private static func standardPath(_ environment: [String: String]) -> String? {
    let base = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return (base ?? environment["HOME"].map { $0 + "/.config" }).map { $0 + "/thumbs/config.toml" }
  }

  /// Throws if another user owns the file or may write to it: its settings decide where requests and credentials go,
  /// and which files are written. Anything but a regular file is refused when it is opened.
  private static func checkOwner(_ path: String) throws(ConfigurationError) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    guard status.st_uid == 0 || status.st_uid == geteuid() else {
      throw ConfigurationError(path: path, reason: "belongs to another user; use --no-config, or a file of your own")
    }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      throw ConfigurationError(path: path, reason: "other users may write to it; run: chmod go-w \(path)")
    }
  }
}

/// A key of the configuration file with its value.
struct ConfigurationSetting: Hashable, Sendable {
  /// A string, number or truth value.
  enum Scalar: Hashable, Sendable {
    /// The text of a string or a number.
    case text(String)
    case flag(Bool)
  }

  enum Value: Hashable, Sendable {
    case scalar(Scalar)
    case list([Scalar])
    /// A value of a type that no option takes, such as a date.
    case unsupported
  }

  /// The table of the key; nil at the top of the file.
  let table: String?
  /// The key: the name of an option without its hyphens; nil for the head of a table.
  let key: String?
  /// The line of the key, from 1.
  let line: Int
  var value: Value
}

extension ConfigurationSetting {
  /// Parses a TOML document. The settings have the order of their lines.
  static func all(in bytes: [UInt8]) throws(ParseError) -> [ConfigurationSetting] {
    let settings = SettingList()
    var error = ctoml_error()
    let isValid = bytes.withUnsafeBytes { bytes in
      let text = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      let context = Unmanaged.passUnretained(settings).toOpaque()
      return ctoml_parse(
        text, bytes.count,
        { context, value in
          guard let context, let value else { return }
          Unmanaged<SettingList>.fromOpaque(context).takeUnretainedValue().append(value.pointee)
        }, context, &error)
    }
    guard isValid else {
      let message = withUnsafeBytes(of: error.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      throw ParseError(reason: message, position: .line(Int(error.line)))
    }
    return settings.settings.sorted { $0.line < $1.line }
  }
}

/// Collects the values that the parser passes.
private final class SettingList {
  var settings: [ConfigurationSetting] = []

  func append(_ value: ctoml_value) {
    let scalar = Self.scalar(value)
    guard !value.is_element else { return appendElement(scalar) }
    let content: ConfigurationSetting.Value =
      value.kind == CTOML_ARRAY ? .list([]) : scalar.map { .scalar($0) } ?? .unsupported
    settings.append(
      ConfigurationSetting(
        table: value.table.map { String(cString: $0) }, key: value.key.map { String(cString: $0) },
        line: Int(value.line), value: content))
  }

  private func appendElement(_ scalar: ConfigurationSetting.Scalar?) {
    guard var last = settings.popLast() else { return }
    if let scalar, case .list(let scalars) = last.value {
      last.value = .list(scalars + [scalar])
    } else {
      last.value = .unsupported
    }
    settings.append(last)
  }

  private static func scalar(_ value: ctoml_value) -> ConfigurationSetting.Scalar? {
    let bytes = UnsafeRawBufferPointer(start: value.text, count: value.length)
    let text = String(decoding: bytes, as: UTF8.self)
    switch value.kind {
    case CTOML_STRING, CTOML_INTEGER, CTOML_FLOAT: return .text(text)
    case CTOML_BOOLEAN: return .flag(text == "true")
    default: return nil
    }
  }
}

/// Translates settings into arguments.
struct SettingArguments: Sendable {
  /// The path of the configuration file.
  let path: String
  let environment: [String: String]

  /// Returns the arguments for `setting`, which sets `option`; none for a flag that is false.
  ///
  /// - Throws: A ``ConfigurationError`` if the option does not take values of that type.
  func arguments(
    for setting: ConfigurationSetting, _ option: CommandOptions.Option
  ) throws(ConfigurationError) -> [String] {
    switch setting.value {
    case .scalar(.flag(let isSet)) where !option.takesValue: return isSet ? ["--\(option.key)"] : []
    case _ where !option.takesValue: throw error(setting, "'\(option.key)' is true or false")
    case .scalar(.text(let text)): return try self.arguments(text, setting, option)
    case .list(let scalars) where option.isRepeatable:
      var arguments: [String] = []
      for scalar in scalars {
        guard case .text(let text) = scalar else {
          throw error(setting, "give strings or numbers, as in [\"a\", \"b\"]")
        }
        arguments += try self.arguments(text, setting, option)
      }
      return arguments
    case .list: throw error(setting, "'\(option.key)' takes one value, not an array")
    case .scalar, .unsupported: throw error(setting, "give a string or a number for '\(option.key)'")
    }
  }

  /// Returns an error at the line of `setting`.
  func error(_ setting: ConfigurationSetting, _ reason: String) -> ConfigurationError {
    ConfigurationError(path: path, line: setting.line, reason: reason)
  }

  private func arguments(
    _ text: String, _ setting: ConfigurationSetting, _ option: CommandOptions.Option
  ) throws(ConfigurationError) -> [String] {
    guard option.key == "header" else {
      // The parser finds no value in `--user-agent=`.
      return text.isEmpty ? ["--\(option.key)", ""] : ["--\(option.key)=\(inHome(text))"]
    }
    let expanded = text.hasPrefix("@") ? "@" + inHome(String(text.dropFirst())) : try expand(text, setting)
    do {
      _ = try HeaderArgument(expanded)
    } catch {
      // The parser would quote the field, which may be secret.
      throw self.error(setting, "header: \((error as? ValidationError)?.message ?? "\(error)")")
    }
    return ["--\(HeaderArgument.configuredOption)=\(expanded)"]
  }

  /// Returns `text` with the home directory in the place of a tilde, as a shell would.
  private func inHome(_ text: String) -> String {
    guard text.hasPrefix("~/"), let home = environment["HOME"] else { return text }
    return home + text.dropFirst()
  }

  /// Returns `text` with the values of variables in the place of `${NAME}`.
  private func expand(_ text: String, _ setting: ConfigurationSetting) throws(ConfigurationError) -> String {
    var result = ""
    var rest = text[...]
    while let open = rest.firstRange(of: "${"), let close = rest[open.upperBound...].firstIndex(of: "}") {
      let name = String(rest[open.upperBound..<close])
      guard let value = environment[name] else {
        throw error(setting, "the environment variable \(name) is not set")
      }
      result += rest[..<open.lowerBound] + value
      rest = rest[rest.index(after: close)...]
    }
    return result + rest
  }
}
