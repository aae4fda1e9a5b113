import Glibc
import Testing

@testable import thumbs

@Suite struct DescriptorLimitTests {
  @Test func `A run raises its limit of open files to the maximum`() {
    let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
    var limit = rlimit()
    #expect(getrlimit(resource, &limit) == 0)
    // One less than the maximum, because other tests are running and need descriptors.
    limit.rlim_cur = limit.rlim_max - 1
    #expect(setrlimit(resource, &limit) == 0)

    DescriptorLimit.raise()

    #expect(getrlimit(resource, &limit) == 0 && limit.rlim_cur == limit.rlim_max)
  }
}
