/// The server of an http or https URL (RFC 6454 section 4).
package struct Origin: Sendable, Hashable, CustomStringConvertible {
    package let usesTLS: Bool
    package let host: String
    package let port: UInt16

    package init?(of url: some StringProtocol) {
        guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else { return nil }
        switch url[..<colon].lowercased() {
        case "https": self.usesTLS = true
        case "http": self.usesTLS = false
        default: return nil
        }
        let authority = url[colon...].dropFirst("://".count).prefix { !"/?#\\".contains($0) }
        guard authority.isVisibleASCII, !authority.contains("@") else { return nil }
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]").map(authority.index(after:)) : nil
        let name = authority[..<(end ?? authority.firstIndex(of: ":") ?? authority.endIndex)]
        let rest = authority[name.endIndex...]
        if rest.isEmpty {
            self.port = self.usesTLS ? 443 : 80
        } else {
            guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()) else { return nil }
            self.port = port
        }
        self.host = (end == nil ? name : name.dropFirst().dropLast()).lowercased()
        guard !self.host.isEmpty else { return nil }
    }

    /// Whether the host is this machine (RFC 6761 section 6.3).
    package var isLoopback: Bool {
        if ["localhost", "::1"].contains(self.host) { return true }
        let bytes = self.host.split(separator: ".", omittingEmptySubsequences: false)
        return bytes.count == 4 && bytes[0] == "127"
            && bytes.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt8($0) != nil }
    }

    package var description: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        let isUsual = self.port == (self.usesTLS ? 443 : 80)
        return "\(self.usesTLS ? "https" : "http")://\(host)" + (isUsual ? "" : ":\(self.port)")
    }
}
