/// A file to be downloaded.
struct FileTarget: Hashable, Sendable {
  /// The absolute path of the complete file.
  let path: String
  /// Identifies the request; see ``DownloadRequest/fileIdentity(_:)``.
  let request: String
  let expected: ExpectedFile

  /// The path of the incomplete file.
  var partPath: String { path + ".part" }
  /// The path of the record about the incomplete file.
  var recordPath: String { partPath + ".json" }
}
