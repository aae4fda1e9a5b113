import BatchFetch
import Foundation
import Glibc

/// The report, the summary and the gallery of a run whose options name objects of a bucket. They are written to files
/// in a temporary directory, and stored when the run has ended.
final class BucketFiles: Sendable {
  private struct File {
    let url: String
    let path: String
    let mediaType: String
  }

  /// The temporary directory; nil if there are no such files, and no thumbnails in a bucket.
  let directory: String?
  private let files: [File]
  private let client: BucketClient?

  /// Replaces the names of objects in `options` by those of files. `output` is the place of the thumbnails.
  ///
  /// - Throws: An `OutputError` if an object cannot be looked at, or was not made by `thumbs` and must stay.
  init(_ options: inout OutputOptions, output: String, _ client: () -> BucketClient) throws(OutputError) {
    let urls = [options.report, options.summary, options.gallery].compactMap { $0 }.filter(BucketFolder.isURL)
    guard !urls.isEmpty || BucketFolder(output) != nil else {
      (directory, files, self.client) = (nil, [], nil)
      return
    }
    let client = client()
    self.client = client
    for url in urls { try Self.check(url, client, options.replacement) }
    let directory = try Self.makeDirectory()
    self.directory = directory
    var files: [File] = []
    func place(_ url: String?, _ usual: String) -> String? {
      guard let url, BucketFolder.isURL(url) else { return url }
      let name = url.split(separator: "/").last.map(String.init) ?? usual
      let path = "\(directory)/\(files.count)-\(name)"
      files.append(File(url: url, path: path, mediaType: Self.mediaType(of: name, usual)))
      return path
    }
    options.report = place(options.report, "application/x-ndjson")
    options.summary = place(options.summary, "application/json")
    options.gallery = place(options.gallery, "text/html; charset=utf-8")
    self.files = files
  }

  private static func mediaType(of name: String, _ usual: String) -> String {
    switch ReportTable.Format(path: name) {
    case .csv: "text/csv; charset=utf-8"
    case .tsv: "text/tab-separated-values; charset=utf-8"
    case nil: usual
    }
  }

  private static func check(
    _ url: String, _ client: BucketClient, _ replacement: OutputWriter.Replacement
  ) throws(OutputError) {
    do throws(FetchFailure) {
      let occupant = try BucketClient.wait { client.look(url, completion: $0) }
      guard occupant == .object(label: nil), replacement == .own else { return }
    } catch {
      throw OutputError(.create, url, .bucket(error))
    }
    throw OutputError(.create, url, .notOwn)
  }

  private static func makeDirectory() throws(OutputError) -> String {
    guard let directory = Workplace.make() else {
      throw OutputError(action: .create, path: "a directory for temporary files", code: errno)
    }
    return directory
  }

  /// Returns how a gallery at `page`, which is in a bucket, shows the thumbnails in `output`; nil for a page that is no
  /// object.
  static func images(of output: String, from page: String?) -> GalleryImages? {
    guard let page, BucketFolder.isURL(page) else { return BucketFolder(output) == nil ? nil : .embedded }
    let folder = page.lastIndex(of: "/").flatMap { BucketFolder(String(page[...$0])) }
    guard let folder, let output = BucketFolder(output), folder.contains(output) else { return .embedded }
    return .files(directory: String(output.prefix.dropFirst(folder.prefix.count)))
  }

  /// Stores the files that exist.
  func store() throws(OutputError) {
    guard let client else { return }
    for file in files { try client.store(fileAt: file.path, file.mediaType, to: file.url) }
  }

  /// Removes the temporary directory.
  func remove() {
    if let directory { try? FileManager.default.removeItem(atPath: directory) }
  }
}

/// A copy of a report that is an object, for a retry, which updates it.
final class ReportCopy: Sendable {
  let path: String
  private let url: String
  private let directory: String
  private let client: BucketClient

  /// Reads the object at `url`.
  init(of url: String, _ client: BucketClient) throws(InputError) {
    guard let directory = Workplace.make() else { throw InputError(url, "there is no directory for temporary files") }
    (self.url, self.client, self.directory) = (url, client, directory)
    path = "\(directory)/report.jsonl"
    do throws(FetchFailure) {
      guard let object = try BucketClient.wait({ client.read(url, completion: $0) }) else {
        throw FetchFailure(.http(404), "There is no such object.")
      }
      guard FileManager.default.createFile(atPath: path, contents: Data(object.bytes)) else {
        throw FetchFailure(.outputFailed, "The temporary file cannot be written.")
      }
    } catch {
      remove()
      throw InputError(url, "cannot be read: \(error.message.withoutPeriod)")
    }
  }

  deinit { remove() }

  /// Stores the copy in place of the object.
  func store() throws(OutputError) { try client.store(fileAt: path, "application/x-ndjson", to: url) }

  /// Removes the copy.
  func remove() { try? FileManager.default.removeItem(atPath: directory) }
}

extension BucketClient {
  /// Stores the file at `path`, if it exists, at `url`.
  fileprivate func store(fileAt path: String, _ mediaType: String, to url: String) throws(OutputError) {
    guard FileManager.default.fileExists(atPath: path) else { return }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw OutputError(.write, url, .system(errno))
    }
    let bytes = [UInt8](data)
    let object = Object(bytes: bytes, mediaType: mediaType, label: ObjectLabel(of: bytes).text)
    do throws(FetchFailure) {
      try Self.wait { write(object, to: url, completion: $0) }
    } catch {
      throw OutputError(.write, url, .bucket(error))
    }
  }
}

extension String {
  /// The sentence without its period.
  var withoutPeriod: Substring { hasSuffix(".") ? dropLast() : self[...] }
}
