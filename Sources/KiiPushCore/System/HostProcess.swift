import Glibc

package struct HostProcess: CustomStringConvertible {
    let id: Int?
    let host: String?

    package init(id: Int?, host: String? = nil) { (self.id, self.host) = (id, host) }

    package static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    package var description: String {
        guard let id else { return "another process" }
        let name = "process \(id)" + (self.host.map { " on \($0)" } ?? "")
        // Each container numbers its own processes, so another container's process may have the same ID.
        guard id == Int(getpid()), self.host == nil || self.host == HostProcess.hostName else { return name }
        return "\(name), another runtime of this process or a process of another container"
    }
}
