import ArgumentParser
import BatchFetch
import Foundation
import HTTPTypes

/// The data that a run sends in addition to its requests: header fields and cookies, which may be secret. Read once,
/// because their files may be pipes.
struct Credentials: Sendable {
  /// The header fields, sent with every request.
  let headerFields: HTTPFields
  /// The cookies; nil without `--cookie-file`.
  let cookies: CookieFile?

  /// The maximum length of a file in bytes.
  private static let longest = 1 << 20

  /// Reads the files and variables that `options` name, and checks the certificate authorities.
  ///
  /// - Throws: A `ValidationError` with the option, the file, the reason and the remedy.
  init(
    _ options: NetworkOptions, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws {
    let given = try Self.fields(options.headers) + options.headerEnv.map { try $0.field(environment) }
    let names = Set(given.map { $0.name.lowercased() })
    let configured = try Self.fields(options.configuredHeaders).filter { !names.contains($0.name.lowercased()) }
    headerFields = Self.httpFields(configured + given)
    cookies = try options.cookieFile.map(Self.cookies)
    try options.certificateAuthorities.map(Self.checkAuthorities)
  }

  private static func httpFields(_ headers: [HeaderOption]) -> HTTPFields {
    var fields = HTTPFields()
    for header in headers {
      guard let name = HTTPField.Name(header.name) else { continue }
      fields.append(HTTPField(name: name, value: header.value))
    }
    return fields
  }

  private static func fields(_ arguments: [HeaderArgument]) throws -> [HeaderOption] {
    try arguments.flatMap { argument in
      switch argument {
      case .field(let field): [field]
      case .file(let path): try fields(path: path)
      }
    }
  }

  private static func fields(path: String) throws -> [HeaderOption] {
    let text = try text("--header", path) { () throws(InputError) in
      try ByteSource.open(path, expecting: "a file of header fields")
    }
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    return try zip(1..., lines).compactMap { number, line in
      let line = String(line).trimmingWhitespace()
      guard !line.isEmpty, !line.hasPrefix("#") else { return nil }
      do {
        return try HeaderOption(line)
      } catch let error as ValidationError {
        throw ValidationError("--header @\(path), line \(number): \(error.message).")
      }
    }
  }

  private static func cookies(path: String) throws -> CookieFile {
    let text = try text("--cookie-file", path) { () throws(InputError) in
      try ByteSource.open(path, expecting: "a file of cookies")
    }
    do throws(CookieFile.ParseError) {
      return try CookieFile(text)
    } catch {
      throw ValidationError("--cookie-file \(path), line \(error.line): \(error.reason).")
    }
  }

  /// Throws a `ValidationError` if the file at `path` cannot be read, or has no certificates.
  static func checkAuthorities(path: String) throws {
    // libcurl opens the file by its name: a pipe would be empty by then.
    let text = try text("--cacert", path) { () throws(InputError) in
      try ByteSource.openRegularFile(path, expecting: "a PEM file")
    }
    guard text.contains(#/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/#) else {
      throw ValidationError(
        "--cacert \(path): there is no certificate in it; give a PEM file, which has lines such as "
          + "-----BEGIN CERTIFICATE-----.")
    }
  }

  private static func text(
    _ option: String, _ path: String, open: () throws(InputError) -> ByteSource
  ) throws -> String {
    do {
      guard let text = String(validating: try open().bytes(limit: longest), as: UTF8.self) else {
        throw ValidationError("\(option) \(path): is not UTF-8 text.")
      }
      return text
    } catch let error as InputError {
      throw ValidationError("\(option) \(error)")
    }
  }
}
