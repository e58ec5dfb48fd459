// This import provides a GNU extension that the Glibc module leaves out.
import CMicroHTTPD
import Glibc

/// Mounts that only this process and its children see. The kernel removes the mounts with the last of these processes,
/// however it ends, and the loop devices with them.
package enum PrivateMounts {
    // From sched.h.
    private static let newNamespace: Int32 = 0x0002_0000

    /// Has to be called before a second thread starts: other threads would keep the shared view.
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
