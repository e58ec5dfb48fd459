import Foundation
package import Glibc
package import KiiPushEmulator

/// The emulator's mosquitto, to be killed. The emulator starts another one at once.
package struct BrokerProcess: Sendable {
    package let pid: pid_t

    /// The mosquitto that runs now; `nil` between two.
    package static func current(of emulator: Emulator) -> BrokerProcess? {
        let wanted = Data("mosquitto\0-c\0\(emulator.brokerConfigurationFile)\0".utf8)
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        for pid in processes.compactMap({ pid_t($0) }) {
            // The launcher names mosquitto among its arguments until it has become it.
            guard let words = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline"),
                words.range(of: wanted) != nil, words.range(of: Data("--pdeathsig".utf8)) == nil
            else { continue }
            return BrokerProcess(pid: pid)
        }
        return nil
    }

    /// Ends it without a chance to write anything.
    package func kill() { Glibc.kill(self.pid, SIGKILL) }
}
