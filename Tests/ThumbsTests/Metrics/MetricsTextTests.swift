import CoreMetrics
import Testing

@testable import thumbs

@Suite struct MetricsTextTests {
  private static func text(_ fill: (MetricsRegistry) -> Void) -> String {
    let registry = MetricsRegistry()
    fill(registry)
    return String(decoding: registry.text, as: UTF8.self)
  }

  @Test func `The series of a metric follow its description, which comes once`() {
    let text = Self.text { registry in
      for tier in ["memory", "disk"] {
        Counter(label: "thumbs_cache_hits_total", dimensions: [("tier", tier)], factory: registry).increment(by: 3)
      }
      Gauge(label: "thumbs_build_info", factory: registry).record(1)
    }
    #expect(
      text == """
        # HELP thumbs_build_info Always 1. The label has the version of the command.
        # TYPE thumbs_build_info gauge
        thumbs_build_info 1
        # HELP thumbs_cache_hits_total Lookups that a tier served.
        # TYPE thumbs_cache_hits_total counter
        thumbs_cache_hits_total{tier="disk"} 3
        thumbs_cache_hits_total{tier="memory"} 3

        """)
  }

  @Test func `The values of labels are escaped`() {
    let text = Self.text { Counter(label: "x_total", dimensions: [("code", "a\\b\"c\nd")], factory: $0).increment() }
    #expect(text.contains(#"x_total{code="a\\b\"c\nd"} 1"#))
  }

  @Test func `The buckets of a histogram count all values up to their bounds`() {
    let text = Self.text { registry in
      let timer = CoreMetrics.Timer(label: "x_seconds", factory: registry)
      for milliseconds in [0, 1, 2, 40, 400_000] { timer.recordMilliseconds(milliseconds) }
    }
    let lines = text.split(separator: "\n").map(String.init)

    #expect(lines.contains("x_seconds_bucket{le=\"0.001\"} 2"))
    #expect(lines.contains("x_seconds_bucket{le=\"0.0025\"} 3"))
    #expect(lines.contains("x_seconds_bucket{le=\"300\"} 4"))
    #expect(
      Array(lines.suffix(3)) == ["x_seconds_bucket{le=\"+Inf\"} 5", "x_seconds_sum 400.043", "x_seconds_count 5"])
  }

  @Test func `Handles with the same name and labels share a series`() {
    let text = Self.text { registry in
      for _ in 0..<2 { Counter(label: "x_total", dimensions: [("a", "b")], factory: registry).increment() }
    }
    #expect(text.hasSuffix("x_total{a=\"b\"} 2\n"))
  }
}
