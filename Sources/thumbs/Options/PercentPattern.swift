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

  private static let formats = ["jpg": "jpeg", "jpeg": "jpeg", "png": "png", "webp": "webp", "avif": "avif"]
}
