public import ArgumentParser
import BatchFetch
public import ImageCache

extension ThumbnailSpec.Fit: ExpressibleByArgument {
  /// Parses the names of this command, and those of other tools: `contain` is `pad`, `fill` is `stretch`, and
  /// `smallest` is `outside`.
  public init?(argument: String) {
    switch argument {
    case "contain": self = .pad
    case "fill": self = .stretch
    case "smallest": self = .outside
    default: self.init(rawValue: argument)
    }
  }
}

extension ThumbnailSpec.Format: ExpressibleByArgument {
  /// The formats of files. The command writes nothing else.
  private static let files = allCases.filter { ![.rgba, .placeholder, .perceptualHash, .original].contains($0) }

  /// The names in help and messages.
  public static var allValueStrings: [String] { files.map(\.rawValue) }

  /// Parses the names of this command in any case; `jpg` is `jpeg`.
  public init?(argument: String) {
    let name = argument.lowercased()
    guard let format = Self(rawValue: name == "jpg" ? "jpeg" : name), Self.files.contains(format) else {
      return nil
    }
    self = format
  }
}

extension ThumbnailSpec.Filter: ExpressibleByArgument {}

extension ThumbnailSpec.Colors: ExpressibleByArgument {}

extension FailLevel: ExpressibleByArgument {}

extension DecoderIsolation.Scope: ExpressibleByArgument {}

extension ProgressMode: ExpressibleByArgument {}

extension ManifestFormat: ExpressibleByArgument {}

/// A number of bytes.
struct ByteSize: Hashable, Sendable {
  /// The bytes, at least 0.
  var count: Int
}

extension ByteSize {
  private static let units: [(name: String, factor: Int)] = [
    ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000),
    ("G", 1_000_000_000), ("M", 1_000_000), ("k", 1000), ("B", 1),
  ]

  /// Parses `32MiB`, `2GiB`, `1.5GB`, `500k` or `4096B`. Units with an `i` are powers of 1024, others powers of 1000.
  /// Case does not matter. Only 0 needs no unit: `500` would be bytes, which hardly anybody means.
  init(_ text: String) throws {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text[number.endIndex...].lowercased()
    if unit.isEmpty, let number = Int(number) {
      guard number != 0 else {
        count = 0
        return
      }
      throw ValidationError("\(text) without a unit would be bytes; give \(text)MiB, for example, or \(text)B")
    }
    guard let factor = Self.units.first(where: { $0.name.lowercased() == unit })?.factor,
      let count = UnitNumber.integer(number, times: factor)
    else { throw ValidationError("give a number of bytes such as 500k, 32MiB or 2GiB") }
    self.count = count
  }
}

extension ByteSize: CustomStringConvertible {
  /// The size in the largest power of 1024 that it reaches, with at most one decimal: `32 MiB`, `1.5 GiB`, `17 B`.
  var description: String {
    for (name, factor) in Self.units.prefix(3) where count >= factor {
      let text = (Double(count) / Double(factor)).text(places: 1)
      return (text.hasSuffix(".0") ? String(text.dropLast(2)) : text) + " " + name
    }
    return "\(count) B"
  }
}

/// Parses the number in front of a unit.
enum UnitNumber {
  /// Returns `digits`, a decimal number with or without a fraction, times `factor`. Returns nil if `digits` is not a
  /// number, or if the product overflows.
  static func integer(_ digits: Substring, times factor: Int) -> Int? {
    if let whole = Int(digits) {
      let (product, overflow) = whole.multipliedReportingOverflow(by: factor)
      return overflow || whole < 0 ? nil : product
    }
    guard digits.first != ".", digits.last != ".", let value = Double(digits) else { return nil }
    return Int(exactly: (value * Double(factor)).rounded())
  }
}

/// Parses numbers in options.
enum Count {
  /// Parses a whole number from 1 to 65535.
  static func positive(_ text: String) throws -> Int { try number(text, in: 1...65535) }

  /// Parses a whole number from 0 to 65535.
  static func natural(_ text: String) throws -> Int { try number(text, in: 0...65535) }

  /// Parses a time: `90s`, `5m`, `1.5h`, `250ms`, or a number of seconds. The default range is 0.001 to 86400 (a day).
  static func seconds(_ text: String, in range: ClosedRange<Double> = 0.001...86_400) throws -> Duration {
    guard let seconds = TimeUnit.seconds(text), range.contains(seconds) else {
      throw ValidationError(
        "give a time such as 90s, 5m or 1h, or a number of seconds, from \(bound(range.lowerBound)) to "
          + "\(bound(range.upperBound)) seconds")
    }
    return .seconds(seconds)
  }

  /// Returns the number without a fraction of zero: `86400`, `0.001`.
  private static func bound(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }

  private static func number(_ text: String, in range: ClosedRange<Int>) throws -> Int {
    guard let number = Int(text), range.contains(number) else {
      throw ValidationError("give a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}

/// The units of times.
enum TimeUnit {
  private static let seconds: [String: Double] = [
    "ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400,
  ]

  /// Returns the seconds of a number with a unit, or of one without; nil for any other text.
  static func seconds(_ text: some StringProtocol, needsUnit: Bool = false) -> Double? {
    let digits = text.prefix { !$0.isLetter }
    let unit = text[digits.endIndex...].lowercased()
    guard let number = Double(digits), number.isFinite, number >= 0 else { return nil }
    if unit.isEmpty { return needsUnit ? nil : number }
    return seconds[unit].map { number * $0 }
  }
}

/// A number of pixels.
struct PixelCount: Hashable, Sendable {
  /// The pixels, at least 1.
  var count: Int
}

extension PixelCount {
  /// Parses `100M`, `2.5G`, `640k` or `1000000`. Units are powers of 1000; case does not matter.
  init(_ text: String) throws {
    let units = ["": 1, "k": 1000, "m": 1_000_000, "g": 1_000_000_000]
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    guard let factor = units[text[number.endIndex...].lowercased()],
      let count = UnitNumber.integer(number, times: factor), count > 0
    else { throw ValidationError("give a number of pixels such as 100M or 640k") }
    self.count = count
  }
}

extension PixelCount: CustomStringConvertible {
  /// The number in the largest unit that divides it evenly: `100M`.
  var description: String {
    for (unit, factor) in [("G", 1_000_000_000), ("M", 1_000_000), ("k", 1000)] where count % factor == 0 {
      return "\(count / factor)\(unit)"
    }
    return "\(count)"
  }
}

/// A file name pattern with `%s` in the place of the output directory, as `vipsthumbnail -o` takes it.
struct PercentPattern: Hashable, Sendable {
  private let directory: String
  private let file: Substring

  /// Splits `output` into a directory and a pattern; nil if it has no `%s`, `%d` or the like.
  init?(_ output: String) {
    guard output.contains(#/%\d*[sd]/#) else { return nil }
    // vipsthumbnail takes the options of the file format in brackets.
    let path = output.prefix { $0 != "[" }
    let slash = path.lastIndex(of: "/")
    directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    file = slash.map { path[path.index(after: $0)...] } ?? path
  }

  /// The error and the options that have the intended effect.
  var remedy: String {
    let parts = file.split(separator: ".", omittingEmptySubsequences: false)
    let stem = (parts.count > 1 ? parts.dropLast() : parts[...]).joined(separator: ".")
    let fields = stem.replacing(#/%\d*s/#, with: "{stem}").replacing(#/%\d*d/#, with: "{index}")
    let format = parts.count > 1 ? Self.formats[parts[parts.count - 1].lowercased()].map { " --format \($0)" } : nil
    return "--output is a directory, not a pattern. Use: "
      + "-o \(directory) --name-template '\(fields).{ext}'\(format ?? "")"
  }

  private static let formats = [
    "jpg": "jpeg", "jpeg": "jpeg", "png": "png", "webp": "webp", "avif": "avif", "gif": "gif",
  ]
}

/// A host as written on the command line: `icons.example`, `icons.example:8443`, `[::1]`.
struct HostOption: Hashable, Sendable {
  /// The host in lower case and ASCII, followed by its port if one was given.
  var host: String
}

extension HostOption {
  /// Parses a host with an optional port.
  init(_ text: String) throws {
    guard !text.contains(where: { "/\\?#@".contains($0) }), let url = try? SourceURL("https://\(text)/") else {
      throw ValidationError("give a host such as icons.example, or icons.example:8443")
    }
    host = url.host
  }
}

/// A profile of inks with the file that it comes from.
struct NamedProfile: Hashable, Sendable {
  /// The path of the file, as given on the command line.
  let path: String
  let profile: InkProfile

  /// The maximum length of a profile in bytes. Those of printing conditions have up to 3 MB.
  private static let longest = 16 << 20

  /// Reads the profile in the file at `path`.
  ///
  /// - Throws: A `ValidationError` with the file and the reason.
  init(contentsOf path: String) throws {
    do {
      let bytes = try ByteSource.open(path, expecting: "an ICC profile").bytes(limit: Self.longest)
      (self.path, profile) = (path, try InkProfile(bytes))
    } catch let error as InputError {
      throw ValidationError("\(error)")
    } catch let error as ImageError {
      throw ValidationError("\(path): \(error.message)")
    }
  }
}

extension CacheKeyQuery {
  /// Parses names separated by commas, `none` or `all`.
  init(argument text: String) throws {
    switch text {
    case "all": self = .all
    case "none": self = .only([])
    default:
      let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      guard names.allSatisfy({ !$0.isEmpty && !$0.contains("=") && !$0.contains("&") }) else {
        throw ValidationError("give names of query parameters such as id,v, or none")
      }
      self = .only(Set(names))
    }
  }
}

extension Gravity {
  /// Parses a place in any case.
  init(parsing text: String) throws {
    guard let gravity = Gravity(text.trimmingWhitespace().lowercased()) else {
      throw ValidationError(
        "give center, a point of the compass such as north or southeast, smart, or percentages such as 30%,70%")
    }
    self = gravity
  }
}
