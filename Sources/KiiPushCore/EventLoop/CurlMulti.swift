import CCurl

/// One curl multi handle. Touched on the loop thread only.
final class CurlMulti {
    let raw: UnsafeMutableRawPointer

    init() throws(TransportError) {
        guard let raw = curl_multi_init() else {
            throw TransportError(.other, detail: "curl_multi_init returned no handle")
        }
        self.raw = raw
    }

    deinit {
        // The only failures are misuse: every easy handle has been removed by its owner.
        curl_multi_cleanup(self.raw)
    }

    func set(_ option: CURLMoption, _ value: Int) throws(TransportError) {
        try CurlMulti.check(ccurl_multi_set_long(self.raw, option, value))
    }

    func add(_ easy: CurlEasy) throws(TransportError) {
        try CurlMulti.check(curl_multi_add_handle(self.raw, easy.raw))
    }

    /// Ends whatever `easy` is doing. Adding it failed or it was added here: otherwise a programmer error.
    func remove(_ easy: CurlEasy) {
        curl_multi_remove_handle(self.raw, easy.raw)
    }

    /// Calls `body` for every handle that came to an end since the last call.
    func forEachFinished(_ body: (_ easy: UnsafeMutableRawPointer, _ result: CURLcode) -> Void) {
        var left: Int32 = 0
        while let message = curl_multi_info_read(self.raw, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            body(easy, ccurl_message_result(message))
        }
    }

    static func check(_ code: CURLMcode) throws(TransportError) {
        guard code == CURLM_OK else {
            let text = String(cString: curl_multi_strerror(code))
            throw TransportError(.other, detail: "libcurl's multi interface failed: \(text)")
        }
    }
}
