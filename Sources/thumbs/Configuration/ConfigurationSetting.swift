import CTOML

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

/// An error in the syntax of a TOML document.
struct TOMLFlaw: Error, Hashable, Sendable {
  let line: Int
  let reason: String
}

extension ConfigurationSetting {
  /// Parses a TOML document. The settings have the order of their lines.
  static func all(in bytes: [UInt8]) throws(TOMLFlaw) -> [ConfigurationSetting] {
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
      throw TOMLFlaw(line: Int(error.line), reason: message)
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
