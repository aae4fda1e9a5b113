import ImageCache

/// Checks the free space of the working directory, where thumbnails are written by default.
struct SpaceCheck: DoctorCheck {
  /// The space below which a run soon fails.
  static let least = 64 << 20

  /// The path of the directory.
  var path: String
  /// The file system of the directory; nil if it cannot be examined.
  var fileSystem: FileSystem?

  var findings: [Finding] {
    guard let fileSystem else {
      return [.problem("space", "The working directory is gone.", remedy: "Change to another directory.")]
    }
    let sizes = "\(CacheText.size(fileSystem.availableBytes)) of \(CacheText.size(fileSystem.totalBytes))"
    let values = ["availableBytes": "\(fileSystem.availableBytes)", "totalBytes": "\(fileSystem.totalBytes)"]
    let message = "\(sizes) free in the working directory (\(fileSystem.name))"
    if fileSystem.isReadOnly {
      return [.warning("space", "\(message), which is read-only.", remedy: "Name an output directory with -o.", values)]
    }
    let remedy = "Free some space, or name an output directory with -o."
    if fileSystem.availableBytes < Self.least {
      return [.problem("space", "\(message): too little for a run.", remedy: remedy, values)]
    }
    if fileSystem.isShort {
      return [.warning("space", "\(message): little for a long run.", remedy: remedy, values)]
    }
    return [.ok("space", message, values)]
  }
}
