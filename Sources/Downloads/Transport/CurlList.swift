internal import CCurl

/// A list of lines for libcurl, which reads them until the exchange ends. Used on one thread.
final class CurlList {
  /// The first line; nil if the list is empty.
  private(set) var first: UnsafeMutablePointer<curl_slist>?

  init(_ lines: some Sequence<String>) {
    for line in lines { first = curl_slist_append(first, line) ?? first }
  }

  deinit { curl_slist_free_all(first) }
}
