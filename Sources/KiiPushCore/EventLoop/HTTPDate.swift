internal import CCurl

extension Timestamp {
    /// Parses a date of RFC 9110 section 5.6.7, or of OpenSSL (`Nov 22 20:24:53 2036 GMT`) or GnuTLS (`2036-11-22
    /// 20:24:53 GMT`). A date without a zone is in GMT.
    ///
    /// - Source: curl_getdate(3), which reads 20361122 but not 2036-11-22
    package init?(date text: String) {
        let isHyphenated = text.utf8.first.map { (0x30...0x39).contains($0) } ?? false
        let seconds = curl_getdate(isHyphenated ? String(text.filter { $0 != "-" }) : text, nil)
        guard seconds != -1 else { return nil }
        self.init(millisecondsSinceEpoch: Int64(seconds) * 1000)
    }
}
