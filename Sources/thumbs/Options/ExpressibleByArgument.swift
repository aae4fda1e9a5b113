public import ArgumentParser
public import ImageCache

extension ThumbnailSpec.Fit: ExpressibleByArgument {}

extension ThumbnailSpec.Format: ExpressibleByArgument {}

extension ThumbnailSpec.Filter: ExpressibleByArgument {}

extension FailLevel: ExpressibleByArgument {}

extension ProgressMode: ExpressibleByArgument {}

extension ManifestFormat: ExpressibleByArgument {}
