internal import Glibc

/// Creates the directory at `path` and its parents with `mode`, as far as they are missing. The kernel resolves `..`,
/// as it does when the path is used.
///
/// Returns the paths of the new directories, the outermost first, and the one that could not be created with its
/// `errno` value; nil if `path` is a directory now.
package func makeDirectories(_ path: String, mode: UInt32) -> (made: [String], failure: (path: String, code: Int32)?) {
  var code = makeDirectory(path, mode: mode)
  if code == EEXIST { return ([], nil) }
  if code == 0 { return ([path], nil) }
  let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
  guard code == ENOENT, !parent.isEmpty else { return ([], (path, code)) }
  var (made, failure) = makeDirectories(parent, mode: mode)
  guard failure == nil else { return (made, failure) }
  code = makeDirectory(path, mode: mode)
  if code == 0 { made.append(path) } else if code != EEXIST { failure = (path, code) }
  return (made, failure)
}

/// Creates one directory. Returns an `errno` value: 0 if it is new, `EEXIST` if there is one, and `ENOTDIR` if there is
/// something else.
private func makeDirectory(_ path: String, mode: UInt32) -> Int32 {
  guard mkdir(path, mode) != 0 else { return 0 }
  let code = errno
  var status = stat()
  guard code == EEXIST else { return code }
  return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR ? EEXIST : ENOTDIR
}
