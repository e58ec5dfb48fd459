import CCurl
import Glibc

/// The file of certificates that a loop trusts. The loop checks for changes of the file before each stream, and before
/// each request over HTTPS or through a proxy.
final class AuthorityFile {
    private struct Version: Equatable {
        let device: dev_t
        let inode: ino_t
        let size: off_t
        let seconds: Int
        let nanoseconds: Int

        init?(of path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (self.device, self.inode, self.size) = (status.st_dev, status.st_ino, status.st_size)
            (self.seconds, self.nanoseconds) = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
        }
    }

    /// libcurl's default age limit for cached certificates, in seconds: CURLOPT_CA_CACHE_TIMEOUT(3).
    private static let longestAge: Int64 = 86_400

    private let path: String
    private var version: Version?
    private var changedAt: MonotonicInstant?

    init(_ path: String) {
        self.path = path
        self.version = Version(of: path)
    }

    /// Makes libcurl reread a changed file for the handle's next connection. libcurl limits only the age of its cache,
    /// so the limit is the time since the change.
    func limitAge(for easy: CurlEasy) {
        let version = Version(of: self.path)
        if version != self.version {
            self.version = version
            self.changedAt = .now()
        }
        let age = self.changedAt.map { (MonotonicInstant.now() - $0).components.seconds } ?? AuthorityFile.longestAge
        // An age of 0 disables the cache. libcurl before 7.87 has neither cache nor option, so the result is ignored.
        _ = ccurl_easy_set_authority_age(easy.raw, Int(min(age, AuthorityFile.longestAge)))
    }
}
