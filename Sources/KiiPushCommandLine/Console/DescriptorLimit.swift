import Glibc

/// The limit of the files that this process may have open.
enum DescriptorLimit {
    /// A command needs so many. The parts of Swift's runtime that wait and sleep end the process where they get none.
    private static let least: rlim_t = 64

    /// - Throws: ``CommandFailure`` with exit 75 where the limit is below what any command needs.
    static func check() throws {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < Self.least else {
            return
        }
        throw CommandFailure(
            .temporary, "it may have \(limit.rlim_cur) files open, and needs \(Self.least)",
            hint: "raise the limit: 'ulimit -n 1024', LimitNOFILE= in a unit, '--ulimit nofile=1024' of a container")
    }
}
