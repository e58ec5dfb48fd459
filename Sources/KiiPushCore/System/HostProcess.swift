import Glibc

/// The process that holds a file, a lock or a name, described for errors.
package struct HostProcess: CustomStringConvertible {
    /// `nil` if unknown.
    let id: Int?
    /// Its machine's name; `nil` for this machine.
    let host: String?

    package init(id: Int?, host: String? = nil) { (self.id, self.host) = (id, host) }

    /// This machine's name; empty if the system does not tell it.
    package static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    package var description: String {
        guard let id else { return "another process" }
        let name = "process \(id)" + (self.host.map { " on \($0)" } ?? "")
        // Each container numbers its own processes, so the same ID can be another process.
        guard id == Int(getpid()), self.host == nil || self.host == HostProcess.hostName else { return name }
        return "\(name), another runtime of this process or a process of another container"
    }
}
