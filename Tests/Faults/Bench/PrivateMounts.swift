// For a GNU extension that the Glibc module leaves out.
import CMicroHTTPD
import Glibc

/// File systems that this process and its children alone see. They are gone with the last of these, however it ends, and so
/// are the loop devices below them.
package enum PrivateMounts {
    // sched.h
    private static let newNamespace: Int32 = 0x0002_0000

    /// To be called before there is a second thread: the others would go on seeing what all see.
    ///
    /// Without the right to mount there is nothing to hide.
    package static func begin() {
        guard unshare(self.newNamespace) == 0 else { return }
        guard mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0 else {
            perror("script/faults: the mounts cannot be hidden from other programs")
            exit(71)
        }
    }
}
