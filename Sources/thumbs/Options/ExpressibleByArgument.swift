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
  /// Parses the names of this command; `jpg` is `jpeg`.
  public init?(argument: String) {
    self.init(rawValue: argument == "jpg" ? "jpeg" : argument)
  }
}

extension ThumbnailSpec.Filter: ExpressibleByArgument {}

extension FailLevel: ExpressibleByArgument {}

extension ProgressMode: ExpressibleByArgument {}

extension ManifestFormat: ExpressibleByArgument {}
