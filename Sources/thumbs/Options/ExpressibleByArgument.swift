public import ArgumentParser
public import ImageCache

extension ThumbnailSpec.Fit: ExpressibleByArgument {
  /// Parses the names of this command, and those of CSS and sharp: `contain` is `pad`, and `fill` is `stretch`.
  public init?(argument: String) {
    switch argument {
    case "contain": self = .pad
    case "fill": self = .stretch
    default: self.init(rawValue: argument)
    }
  }
}

extension ThumbnailSpec.Format: ExpressibleByArgument {
  /// The formats of files. The command writes nothing else.
  private static let files = allCases.filter { $0 != .rgba && $0 != .placeholder }

  /// The names in help and messages.
  public static var allValueStrings: [String] { files.map(\.rawValue) }

  /// Parses the names of this command; `jpg` is `jpeg`.
  public init?(argument: String) {
    guard let format = Self(rawValue: argument == "jpg" ? "jpeg" : argument), Self.files.contains(format) else {
      return nil
    }
    self = format
  }
}

extension ThumbnailSpec.Filter: ExpressibleByArgument {}

extension FailLevel: ExpressibleByArgument {}

extension DecoderIsolation.Scope: ExpressibleByArgument {}

extension ProgressMode: ExpressibleByArgument {}

extension ManifestFormat: ExpressibleByArgument {}
