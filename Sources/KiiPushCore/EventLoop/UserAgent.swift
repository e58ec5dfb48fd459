import CCurl

/// The value of the `User-Agent` field (RFC 9110 section 10.1.5).
package enum UserAgent {
    package static let version = "0.1.0"

    package static let ofLibrary: String = {
        let curl = curl_version_info(CURLVERSION_FIRST)?.pointee.version.map { " libcurl/" + String(cString: $0) }
        return "KiiPushCore/\(UserAgent.version)" + (curl ?? "")
    }()
}
