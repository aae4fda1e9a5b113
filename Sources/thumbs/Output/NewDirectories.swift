import Glibc
import ImageCache

/// The directories that a run created before anything else. They are removed if the run does not take place.
struct NewDirectories: Sendable {
  /// The paths of the directories that did not exist, the outermost first.
  let paths: [String]

  /// Creates the directory at `path` and its parents, as far as they are missing. If one cannot be created, removes the
  /// others again.
  init(for path: String) throws(OutputError) {
    let (made, failure) = makeDirectories(path, mode: 0o777)
    paths = made
    guard let failure else { return }
    remove()
    throw OutputError(action: .create, path: failure.path, code: failure.code)
  }

  /// Removes the directories, except those that contain something by now.
  func remove() {
    for path in paths.reversed() { rmdir(path) }
  }
}
