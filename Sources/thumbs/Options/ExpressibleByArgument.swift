public import ArgumentParser
public import ImageCache

extension ThumbnailSpec.Fit: ExpressibleByArgument {}

extension ThumbnailSpec.Format: ExpressibleByArgument {}

extension ProgressMode: ExpressibleByArgument {}
