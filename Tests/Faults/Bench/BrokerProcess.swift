import Foundation
package import Glibc
package import KiiPushEmulator

/// The emulator's mosquitto, for tests that kill it. The emulator starts another one at once.
package struct BrokerProcess: Sendable {
    package let pid: pid_t

    /// The mosquitto that runs now; `nil` while none runs.
    package static func current(of emulator: Emulator) -> BrokerProcess? {
        let wanted = Data("mosquitto\0-c\0\(emulator.brokerConfigurationFile)\0".utf8)
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        for pid in processes.compactMap({ pid_t($0) }) {
            // The launcher has mosquitto's words among its own arguments until it calls exec.
            guard let words = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline"),
                words.range(of: wanted) != nil, words.range(of: Data("--pdeathsig".utf8)) == nil
            else { continue }
            return BrokerProcess(pid: pid)
        }
        return nil
    }

    package func kill() { Glibc.kill(self.pid, SIGKILL) }
}
