import Glibc
import KiiPushCore

package enum ServiceContext {
    package static func finding(variable: (String) -> String?, groups: String, exists: (String) -> Bool) -> Finding {
        var facts: [String] = []
        let unit = groups.split(whereSeparator: { $0 == "/" || $0.isNewline }).last { $0.hasSuffix(".service") }
        if variable("INVOCATION_ID") != nil, let unit {
            facts.append("systemd unit \(unit)")
            facts.append(variable("NOTIFY_SOCKET") == nil ? "no readiness is awaited" : "readiness is awaited")
            if let microseconds = variable("WATCHDOG_USEC").flatMap({ Int64($0) }) {
                facts.append("watchdog \(Duration.microseconds(microseconds).text)")
            }
        } else {
            facts.append("no unit of systemd")
        }
        if variable("container") != nil || ["/run/.containerenv", "/.dockerenv"].contains(where: exists) {
            facts.append("in a container")
        }
        let hasBus =
            variable("DBUS_SESSION_BUS_ADDRESS") != nil
            || variable("XDG_RUNTIME_DIR").map { exists($0 + "/bus") } ?? false
        facts.append(hasBus ? "a session bus" : "no session bus, so nothing can be shown on a desktop")
        return .ok(facts.joined(separator: "; "))
    }

    package static func finding() -> Finding {
        let groups = (try? InputFile.read("/proc/self/cgroup")).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return self.finding(variable: environmentVariable, groups: groups, exists: { access($0, F_OK) == 0 })
    }
}
