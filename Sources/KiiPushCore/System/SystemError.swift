import Glibc

package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The beginning of the message, such as `no thread can be started`. The text of ``code`` follows.
    package var failure: String
    package var code: Int32
    private var isOfProgram = false

    package init(_ failure: String, code: Int32 = errno) {
        self.failure = failure
        self.code = code
    }

    package init(starting program: String, code: Int32) {
        self.init("cannot start \(program)", code: code)
        self.isOfProgram = true
    }

    package func hindering(_ action: String) -> SystemError {
        SystemError("cannot \(action): \(self.failure)", code: self.code)
    }

    /// Whether a retry may succeed. The start of a program is worth a retry if the machine lacks a resource, the disk
    /// fails, or a process is writing the program's file. Every other failure is worth a retry, except `EFBIG`: a
    /// message exceeds the largest file size.
    package var isShortage: Bool {
        guard self.isOfProgram else { return self.code != EFBIG }
        return [EMFILE, ENFILE, EAGAIN, ENOMEM, ENOSPC, EDQUOT, ENOLCK, EIO, ESTALE, ETXTBSY].contains(self.code)
    }

    package var description: String { "\(self.failure): \(errorText(self.code))\(self.advice)" }

    private var advice: String {
        switch self.code {
        case ENOENT where self.isOfProgram: "; name it with its whole path, or install it"
        case EACCES where self.isOfProgram, ENOEXEC where self.isOfProgram:
            "; make it executable (chmod +x), and a script begin with #! and its interpreter"
        default: ""
        }
    }
}

package func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }
