import CCurl

package enum CurlLibrary {
    /// 7.68.0, the oldest supported.
    static let oldestVersion: UInt32 = 0x07_44_00

    static func start() throws(TransportError) { try CurlLibrary.outcome.get() }

    private static let outcome: Result<Void, TransportError> = {
        let code = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        guard code == CURLE_OK, let info = curl_version_info(CURLVERSION_FIRST) else {
            return .failure(TransportError(.other, detail: "libcurl cannot start", curlCode: Int(code.rawValue)))
        }
        let name = info.pointee.version.map { String(cString: $0) } ?? "?"
        return CurlLibrary.checked(versionNumber: info.pointee.version_num, name: name)
    }()

    /// `versionNumber` is `0xXXYYZZ`, as in `curl_version_info_data.version_num`.
    package static func checked(versionNumber: UInt32, name: String) -> Result<Void, TransportError> {
        guard versionNumber >= CurlLibrary.oldestVersion else {
            let detail = "libcurl \(name) is too old: 7.68.0 or later is needed"
            return .failure(TransportError(.invalidConfiguration, detail: detail))
        }
        return .success(())
    }
}
