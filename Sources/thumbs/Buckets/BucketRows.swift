import BatchFetch

/// The images in a folder of a bucket, in the order of the bytes of their keys. An object counts by its name: one with
/// another extension than that of an image is left out, and so is an empty one.
struct BucketRows: RowSource {
  private let folder: BucketFolder
  private let client: BucketClient
  private let scope: LocalScope
  private let output: BucketFolder?
  private var items: ArraySlice<BucketPage.Item> = []
  /// The request of the next page; nil after the last one.
  private var page: BucketClient.Answer<BucketPage>?
  private var leftOut = 0

  /// Requests the first page of `folder`, from which `scope` leaves out the output.
  ///
  /// - Throws: If the folder is the output itself, from which everything would be left out.
  init(_ folder: BucketFolder, _ client: BucketClient, _ scope: LocalScope) throws(InputError) {
    (self.folder, self.client, self.scope) = (folder, client, scope)
    if let output = scope.output, BucketFolder(output) == folder {
      throw InputError("\(folder)/", "is the output folder, too; choose another one with --output")
    }
    output = scope.output.flatMap { BucketFolder($0) }.flatMap { folder.contains($0) ? $0 : nil }
    request(after: nil)
  }

  var found: String { "there are no images in this folder" }

  mutating func next() throws(InputError) -> ManifestItem? {
    while true {
      while let item = items.popFirst() {
        if let row = row(of: item) { return row }
      }
      guard let page else { return nil }
      let loaded = try load(page)
      items = loaded.items[...]
      self.page = nil
      if let token = loaded.next { request(after: token) }
    }
  }

  /// Requests a page, before somebody waits for it.
  private mutating func request(after token: String?) {
    page = BucketClient.Answer { [folder, client] in client.list(folder, after: token, completion: $0) }
  }

  private func load(_ page: BucketClient.Answer<BucketPage>) throws(InputError) -> BucketPage {
    do throws(FetchFailure) {
      return try page.value()
    } catch {
      throw InputError("\(folder)/", "cannot be listed: \(error.message.withoutPeriod)")
    }
  }

  private mutating func row(of item: BucketPage.Item) -> ManifestItem? {
    guard let name = folder.name(ofKey: item.key), item.byteCount > 0, !name.hasSuffix("/") else { return nil }
    var folders = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    let file = folders.removeLast()
    guard scope.isRecursive || folders.isEmpty, output?.name(ofKey: item.key) == nil else { return nil }
    guard file.hasImageExtension || !file.dropFirst().contains(".") else {
      leftOut += 1
      return nil
    }
    return ManifestItem(content: .url(folder.url(of: String(name))), place: .directory(folders: folders))
  }

  func remark(about name: String) -> String? {
    guard leftOut > 0 else { return nil }
    let objects = leftOut == 1 ? "1 object whose extension is" : "\(leftOut) objects whose extensions are"
    return "In \(name), \(objects) not that of an image \(leftOut == 1 ? "was" : "were") left out."
  }
}
