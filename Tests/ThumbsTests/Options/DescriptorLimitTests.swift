import Glibc
import Testing

@testable import thumbs

@Suite struct DescriptorLimitTests {
  @Test func `A run may open as many files and connections as the system allows`() {
    let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
    var limit = rlimit()
    #expect(getrlimit(resource, &limit) == 0)
    // One fewer: the other tests go on meanwhile.
    limit.rlim_cur = limit.rlim_max - 1
    #expect(setrlimit(resource, &limit) == 0)
    DescriptorLimit.raise()
    #expect(getrlimit(resource, &limit) == 0 && limit.rlim_cur == limit.rlim_max)
  }
}
