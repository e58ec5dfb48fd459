import CCurl
import Synchronization

final class Transfer {
    /// The largest response body, after decompression.
    private static let maximumBodyBytes = 4 << 20

    let easy: CurlEasy
    let ticket: TransferTicket
    let continuation: TransferTicket.Continuation
    var timer: TimerID?
    private var head = ResponseHead()
    private var body: [UInt8] = []
    private var fieldList: UnsafeMutablePointer<curl_slist>?
    private let isPlainGet: Bool
    private let isHeadEnough: Bool
    /// Called when the final response's head is complete, if the request needs only the head.
    var onHead: (() -> Void)?
    private var refusal: TransportError?

    static func prepare(_ easy: CurlEasy, _ options: ConnectionOptions) throws(TransportError) {
        try easy.prepare()
        try options.apply(to: easy)
        // The empty string accepts every encoding that libcurl can decode.
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

    private static func hand(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, to context: UnsafeMutableRawPointer?,
        _ receive: (Transfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let context else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        return receive(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
    }

    init(
        _ request: HTTPRequest, ticket: TransferTicket, continuation: TransferTicket.Continuation, easy: CurlEasy
    ) throws(TransportError) {
        self.easy = easy
        self.ticket = ticket
        self.continuation = continuation
        self.isPlainGet = request.method == "GET" && request.body == nil
        self.isHeadEnough = request.bodyPatience != nil
        try request.validate()
        easy.clearError()
        try easy.set(CURLOPT_URL, request.url)
        try easy.setMilliseconds(CURLOPT_TIMEOUT_MS, request.timeout)
        try easy.set(CURLOPT_FRESH_CONNECT, 0)
        // Over TLS, waits for a connection that may become HTTP/2, instead of opening one for each transfer.
        try easy.set(CURLOPT_PIPEWAIT, request.url.hasPrefix("https:") ? 1 : 0)
        try self.setMethod(request)
        if request.method != "GET", request.method != "HEAD" { try self.forbidRepetition() }
        try self.setFields(request)
        // Safe to escape: TransferSet keeps this object until it has removed the handle. libcurl reads these pointers
        // only during a transfer.
        let context = Unmanaged.passUnretained(self).toOpaque()
        try easy.setUnowned(CURLOPT_PRIVATE, context)
        try easy.setUnowned(CURLOPT_WRITEDATA, context)
        try easy.setUnowned(CURLOPT_HEADERDATA, context)
    }

    func release(_ options: ConnectionOptions) throws(TransportError) {
        if self.isPlainGet {
            // This object frees the list of fields. The next transfer sets the other options of a plain GET anew.
            try self.easy.check(ccurl_easy_set_list(self.easy.raw, CURLOPT_HTTPHEADER, nil))
        } else {
            self.easy.reset()
            try Transfer.prepare(self.easy, options)
        }
    }

    deinit { curl_slist_free_all(self.fieldList) }

    /// Whether to repeat the request on a new connection, since it got 408 or 421 on a reused connection.
    ///
    /// A server that closes an idle connection may send 408 first. libcurl takes that 408 for the response to the next
    /// request, so the 408 seems to come at once. 421 asks for another connection.
    ///
    /// - Source: RFC 9110, sections 15.5.9 and 15.5.20
    var isAnsweredByKeptConnection: Bool {
        guard self.easy.integer(CURLINFO_NUM_CONNECTS) == 0 else { return false }
        switch self.easy.integer(CURLINFO_RESPONSE_CODE) {
        case 408:
            // HTTP/2 answers each request on its own stream, so the 408 answers this request.
            guard self.easy.integer(CURLINFO_HTTP_VERSION) <= CURL_HTTP_VERSION_1_1 else { return false }
            let sent = self.easy.time(CURLINFO_PRETRANSFER_TIME_T) ?? .zero
            let answered = self.easy.time(CURLINFO_STARTTRANSFER_TIME_T) ?? .zero
            return answered - sent < Transfer.idleReplyLimit
        case 421: return true
        default: return false
        }
    }

    /// A 408 after this time counts as the answer to the request. An HTTP gateway waits longer before it sends 408 for
    /// a silent server.
    private static let idleReplyLimit = Duration.seconds(1)

    func restart() throws(TransportError) {
        self.head = ResponseHead()
        self.body = []
        try self.easy.set(CURLOPT_FRESH_CONNECT, 1)
    }

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
            // libcurl copies as many bytes as POSTFIELDSIZE says. An empty array may have no base address.
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

    /// Makes libcurl send the request only once.
    ///
    /// If a reused connection ends without a response, libcurl repeats the request, although the server may have
    /// carried it out. libcurl never repeats RTSP's RECEIVE; this option has no other effect on HTTP. A libcurl without
    /// RTSP lacks the option; the request then gets a new connection.
    private func forbidRepetition() throws(TransportError) {
        let code = ccurl_easy_set_long(self.easy.raw, CURLOPT_RTSP_REQUEST, Int(CURL_RTSPREQ_RECEIVE))
        if code != CURLE_OK { try self.easy.set(CURLOPT_FRESH_CONNECT, 1) }
    }

    private func setFields(_ request: HTTPRequest) throws(TransportError) {
        for field in request.fields {
            // The semicolon tells libcurl that the value is empty (CURLOPT_HTTPHEADER(3)).
            try self.appendLine(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        if request.body != nil {
            // A name without a value removes a field that libcurl would add.
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
        guard bytes.count <= Transfer.maximumBodyBytes - self.body.count else {
            return self.refuse("the response is larger than \(Transfer.maximumBodyBytes) bytes")
        }
        self.body.append(contentsOf: bytes)
        return true
    }

    private func receive(headerLine line: UnsafeRawBufferPointer) -> Bool {
        let limit = ResponseHead.maximumBytes
        guard self.head.append(line) else {
            return self.refuse("the response's header fields and trailers are larger than \(limit) bytes")
        }
        // `onHead` shortens the time limit, so it must not run if the request will be sent again.
        if self.isHeadEnough, self.hasFinalHead, !self.isAnsweredByKeptConnection { self.onHead.take()?() }
        return true
    }

    private func refuse(_ detail: String) -> Bool {
        self.refusal = TransportError(.tooLarge, detail: detail)
        return false
    }
}

final class TransferTicket: Sendable {
    typealias Continuation = CheckedContinuation<HTTPResponse, any Error>

    // Cancellation may come before the transfer exists.
    private let wasCancelled = Atomic<Bool>(false)

    var isCancelled: Bool { self.wasCancelled.load(ordering: .acquiring) }

    func cancel() { self.wasCancelled.store(true, ordering: .releasing) }
}
