/// The name of a metric and the labels of one of its series.
struct MetricKey: Hashable, Comparable, Sendable {
  /// A label and its value, such as `tier` and `disk`.
  struct Label: Hashable, Comparable, Sendable {
    var name: String
    var value: String

    static func < (a: Label, b: Label) -> Bool { (a.name, a.value) < (b.name, b.value) }
  }

  var name: String
  var labels: [Label] = []

  /// Orders by name, then by labels, so that the series of a metric are together.
  static func < (a: MetricKey, b: MetricKey) -> Bool {
    a.name == b.name ? a.labels.lexicographicallyPrecedes(b.labels) : a.name < b.name
  }
}
