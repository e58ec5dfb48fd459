import Glibc

enum DescriptorLimit {
    /// The fewest descriptors with which a command runs. Swift's runtime ends the process if it gets none for waiting
    /// or sleeping.
    private static let least: rlim_t = 64

    /// - Throws: ``CommandFailure`` with exit 75 if the limit of open files is too low.
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
