import CCurl
import Glibc

/// The file of certificates that a loop trusts. Whoever connects finds out whether it has changed. Loop thread only.
final class AuthorityFile {
    private struct Version: Equatable {
        let device: dev_t
        let inode: ino_t
        let size: off_t
        let seconds: Int
        let nanoseconds: Int

        /// - Returns: `nil` for a file that is not there.
        init?(of path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (self.device, self.inode, self.size) = (status.st_dev, status.st_ino, status.st_size)
            (self.seconds, self.nanoseconds) = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
        }
    }

    /// As long as libcurl keeps certificates that it has read, by itself: CURLOPT_CA_CACHE_TIMEOUT(3).
    private static let longestAge: Int64 = 86_400

    private let path: String
    private var version: Version?
    private var changedAt: MonotonicInstant?

    init(_ path: String) {
        self.path = path
        self.version = Version(of: path)
    }

    /// Has libcurl read the file again, for a connection of this handle's, if it has not since the file changed.
    ///
    /// Each multi handle keeps the certificates that it has read. Their limit is an age, and no version: libcurl reads
    /// them again when they are older than the change.
    func limitAge(for easy: CurlEasy) {
        let version = Version(of: self.path)
        if version != self.version {
            self.version = version
            self.changedAt = .now()
        }
        let age = self.changedAt.map { (MonotonicInstant.now() - $0).components.seconds } ?? AuthorityFile.longestAge
        // libcurl before 7.87 keeps nothing, and has no such option. With 0 it keeps nothing either.
        _ = ccurl_easy_set_authority_age(easy.raw, Int(min(age, AuthorityFile.longestAge)))
    }
}
