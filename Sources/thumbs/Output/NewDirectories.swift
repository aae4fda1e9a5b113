import Glibc

/// The directories that a run created before anything else. They are removed if the run does not take place.
struct NewDirectories: Sendable {
  /// The paths of the directories that did not exist, the outermost first.
  private(set) var paths: [String] = []

  /// Creates the directory at `path` and its parents, as far as they are missing. If one cannot be created, removes the
  /// others again.
  init(for path: String) throws(OutputError) {
    do throws(OutputError) {
      try make(path)
    } catch {
      remove()
      throw error
    }
  }

  /// Removes the directories, except those that contain something by now.
  func remove() {
    for path in paths.reversed() { rmdir(path) }
  }

  private mutating func make(_ path: String) throws(OutputError) {
    if path.isEmpty { throw OutputError(action: .create, path: path, code: ENOENT) }
    let code = create(path)
    if code == 0 { return }
    let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    guard code == ENOENT, !parent.isEmpty else { throw OutputError(action: .create, path: path, code: code) }
    try make(parent)
    let second = create(path)
    if second != 0 { throw OutputError(action: .create, path: path, code: second) }
  }

  /// Creates one directory. Returns 0 if it exists now, else the `errno` value.
  private mutating func create(_ path: String) -> Int32 {
    guard mkdir(path, 0o777) == 0 else { return errno == EEXIST ? 0 : errno }
    paths.append(path)
    return 0
  }
}
