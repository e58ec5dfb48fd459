import Glibc

/// The process that holds a file, a lock or a name, as errors name it.
package struct HostProcess: CustomStringConvertible {
    /// `nil` where nobody knows it.
    let id: Int?
    /// Its machine; `nil` where it is this one.
    let host: String?

    package init(id: Int?, host: String? = nil) { (self.id, self.host) = (id, host) }

    /// This machine's name; empty where the system does not tell it.
    package static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    package var description: String {
        guard let id else { return "another process" }
        let name = "process \(id)" + (self.host.map { " on \($0)" } ?? "")
        // Containers count their processes each for itself.
        guard id == Int(getpid()), self.host == nil || self.host == HostProcess.hostName else { return name }
        return "\(name), another runtime of this process or a process of another container"
    }
}
