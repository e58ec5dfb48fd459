import CCurl
import Synchronization

/// One HTTP exchange on one easy handle. Loop thread only.
final class Transfer {
    let easy: CurlEasy
    let ticket: TransferTicket
    private let maximumBodyBytes: Int
    private var head = ResponseHead()
    private var body: [UInt8] = []
    private var fieldList: UnsafeMutablePointer<curl_slist>?
    private let isPlainGet: Bool
    private let isHeadEnough: Bool
    /// Called once there is the whole head of the final response, for one who wants no more.
    var onHead: (() -> Void)?
    // Why a callback of ours made libcurl stop.
    private var refusal: TransportError?

    /// Sets what is the same for every transfer, on a fresh or reset handle.
    static func prepare(_ easy: CurlEasy, _ options: ConnectionOptions) throws(TransportError) {
        try easy.prepare()
        try options.apply(to: easy)
        // Empty: whatever libcurl can decode.
        try easy.set(CURLOPT_ACCEPT_ENCODING, "")
        let receiveBody: ccurl_bytes_callback = {
            Transfer.hand($0, $1 * $2, to: $3) { transfer, bytes in transfer.receive(body: bytes) }
        }
        let receiveLine: ccurl_bytes_callback = {
            Transfer.hand($0, $1 * $2, to: $3) { transfer, line in transfer.receive(headerLine: line) }
        }
        try easy.check(ccurl_easy_set_callback(easy.raw, CURLOPT_WRITEFUNCTION, receiveBody))
        try easy.check(ccurl_easy_set_callback(easy.raw, CURLOPT_HEADERFUNCTION, receiveLine))
    }

    /// Hands what libcurl has received to the transfer that it is for.
    ///
    /// - Returns: how many bytes the transfer took; none makes libcurl stop.
    private static func hand(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, to context: UnsafeMutableRawPointer?,
        _ receive: (Transfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let context else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        return receive(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
    }

    /// Sets a prepared handle up for `request`.
    init(
        _ request: HTTPRequest, ticket: TransferTicket, easy: CurlEasy, maximumBodyBytes: Int
    ) throws(TransportError) {
        (self.easy, self.ticket, self.maximumBodyBytes) = (easy, ticket, maximumBodyBytes)
        self.isPlainGet = request.method == "GET" && request.body == nil
        self.isHeadEnough = request.bodyPatience != nil
        try request.validate()
        easy.clearError()
        try easy.set(CURLOPT_URL, request.url)
        try easy.setMilliseconds(CURLOPT_TIMEOUT_MS, request.timeout)
        try easy.set(CURLOPT_FRESH_CONNECT, 0)
        // Wait for a connection that may turn out to multiplex, rather than open one a transfer: over TLS, where HTTP/2
        // can be agreed on.
        try easy.set(CURLOPT_PIPEWAIT, request.url.hasPrefix("https:") ? 1 : 0)
        try self.setMethod(request)
        if request.method != "GET", request.method != "HEAD" { try self.forbidRepetition() }
        try self.setFields(request)
        // Safe to escape: the set of transfers keeps this object until the handle was removed, and a handle that is not
        // in a transfer uses none of these.
        let context = Unmanaged.passUnretained(self).toOpaque()
        try easy.setUnowned(CURLOPT_PRIVATE, context)
        try easy.setUnowned(CURLOPT_WRITEDATA, context)
        try easy.setUnowned(CURLOPT_HEADERDATA, context)
    }

    /// Makes the handle ready for another transfer, once it was removed.
    func release(_ options: ConnectionOptions) throws(TransportError) {
        if self.isPlainGet {
            // What differs is set anew each time, but for this list, which dies with us.
            try self.easy.check(ccurl_easy_set_list(self.easy.raw, CURLOPT_HTTPHEADER, nil))
        } else {
            self.easy.reset()
            try Transfer.prepare(self.easy, options)
        }
    }

    deinit { curl_slist_free_all(self.fieldList) }

    /// Whether the server has answered the connection and not the request. One that closes an idle connection may say so
    /// with 408, which libcurl takes for the answer to the next request: it lies in the socket already. A gateway whose
    /// server did not answer says 408, too, after some time, and the request may have been carried out. With 421 the server
    /// asks for another connection.
    ///
    /// - Source: RFC 9110, sections 15.5.9 and 15.5.20
    var isAnsweredByKeptConnection: Bool {
        guard self.easy.integer(CURLINFO_NUM_CONNECTS) == 0 else { return false }
        switch self.easy.integer(CURLINFO_RESPONSE_CODE) {
        case 408:
            // Streams of HTTP/2 are answered one by one.
            guard self.easy.integer(CURLINFO_HTTP_VERSION) <= CURL_HTTP_VERSION_1_1 else { return false }
            let sent = self.easy.microseconds(CURLINFO_PRETRANSFER_TIME_T)
            return self.easy.microseconds(CURLINFO_STARTTRANSFER_TIME_T) - sent < Transfer.longestGoodbye
        case 421: return true
        default: return false
        }
    }

    /// A 408 that comes later than this many microseconds answers the request. A gateway waits for its server for longer.
    private static let longestGoodbye = 1_000_000

    /// Forgets the answer, and makes the removed handle ready to send the request over a connection of its own.
    func beginAnew() throws(TransportError) {
        self.head = ResponseHead()
        self.body = []
        try self.easy.set(CURLOPT_FRESH_CONNECT, 1)
    }

    /// What came of it, once libcurl says that it ended with `code`.
    func outcome(_ code: CURLcode) -> Result<HTTPResponse, any Error> {
        let status = self.easy.integer(CURLINFO_RESPONSE_CODE)
        if !self.isHeadEnough || !self.hasFinalHead {
            if let refusal = self.refusal { return .failure(refusal) }
            guard code == CURLE_OK else { return .failure(self.easy.error(code)) }
        }
        return .success(HTTPResponse(status: status, fields: self.head.fields(), body: self.body))
    }

    private func setMethod(_ request: HTTPRequest) throws(TransportError) {
        if let body = request.body {
            try self.easy.set(CURLOPT_POST, 1)
            try self.easy.set(CURLOPT_POSTFIELDSIZE, body.count)
            // libcurl copies as many bytes as the size before says; an empty array may have no address to give.
            let code = (body.isEmpty ? [0] : body).withUnsafeBytes { bytes in
                ccurl_easy_set_pointer(
                    self.easy.raw, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            }
            try self.easy.check(code)
            if request.method != "POST" { try self.easy.set(CURLOPT_CUSTOMREQUEST, request.method) }
        } else if request.method == "HEAD" {
            try self.easy.set(CURLOPT_NOBODY, 1)
        } else if request.method != "GET" {
            try self.easy.set(CURLOPT_CUSTOMREQUEST, request.method)
        }
    }

    /// Has the request sent once, whatever comes of it; whether it is sent again is for the caller to decide.
    ///
    /// When a connection that was kept ends without an answer, libcurl sends the request again over another, though the
    /// server may have carried it out. It spares requests that look like RTSP's RECEIVE, and this option, which nothing
    /// else in HTTP looks at, is how it tells. Built without RTSP it has no such option; then the request gets a
    /// connection that was not kept.
    private func forbidRepetition() throws(TransportError) {
        let code = ccurl_easy_set_long(self.easy.raw, CURLOPT_RTSP_REQUEST, Int(CURL_RTSPREQ_RECEIVE))
        if code != CURLE_OK { try self.easy.set(CURLOPT_FRESH_CONNECT, 1) }
    }

    private func setFields(_ request: HTTPRequest) throws(TransportError) {
        for field in request.fields {
            // A name followed by a semicolon is libcurl's way to say that the value is empty, CURLOPT_HTTPHEADER(3).
            try self.appendLine(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        if request.body != nil {
            // A name without a value removes what libcurl would add: a wait for "100 Continue", and a form's media type.
            if !request.hasField("Expect") { try self.appendLine("Expect:") }
            if !request.hasField("Content-Type") { try self.appendLine("Content-Type:") }
        }
        try self.easy.check(ccurl_easy_set_list(self.easy.raw, CURLOPT_HTTPHEADER, self.fieldList))
    }

    private func appendLine(_ line: String) throws(TransportError) {
        guard let longer = curl_slist_append(self.fieldList, line) else {
            throw TransportError(.other, detail: "libcurl is out of memory")
        }
        self.fieldList = longer
    }

    private var hasFinalHead: Bool {
        self.head.isComplete && (200...599).contains(self.easy.integer(CURLINFO_RESPONSE_CODE))
    }

    private func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        guard !self.isHeadEnough else { return true }
        guard bytes.count <= self.maximumBodyBytes - self.body.count else {
            return self.refuse("the response is larger than \(self.maximumBodyBytes) bytes")
        }
        self.body.append(contentsOf: bytes)
        return true
    }

    private func receive(headerLine line: UnsafeRawBufferPointer) -> Bool {
        let limit = ResponseHead.maximumBytes
        guard self.head.append(line) else {
            return self.refuse("the response's header fields and trailers are larger than \(limit) bytes")
        }
        // A request that is sent again has all of its time.
        if self.isHeadEnough, self.hasFinalHead, !self.isAnsweredByKeptConnection { self.onHead.take()?() }
        return true
    }

    private func refuse(_ detail: String) -> Bool {
        self.refusal = TransportError(.tooLarge, detail: detail)
        return false
    }
}

/// One caller's claim on one transfer, known to the calling task and to the loop.
final class TransferTicket: Sendable {
    typealias Continuation = CheckedContinuation<HTTPResponse, any Error>

    // Set also by a cancellation that overtakes the start, before there is a transfer.
    private let wasCancelled = Atomic<Bool>(false)

    var isCancelled: Bool { self.wasCancelled.load(ordering: .acquiring) }

    func cancel() { self.wasCancelled.store(true, ordering: .releasing) }
}
