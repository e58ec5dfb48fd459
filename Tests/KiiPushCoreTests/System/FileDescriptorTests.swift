import Glibc
import KiiPushCore
import Testing

@Suite struct FileDescriptorTests {
    @Test func noProgramInheritsOne() throws {
        let (one, other) = try FileDescriptor.connectedPair()
        let copy = try #require(FileDescriptor(duplicating: one.number, from: 100))
        #expect(copy.number >= 100)
        let opened = try #require(FileDescriptor(opening: "/dev/null", O_RDONLY))
        let socket = try #require(FileDescriptor(socket: AF_INET, SOCK_STREAM))
        let memory = try FileDescriptor.memoryFile(holding: [1])
        for descriptor in [one, other, copy, opened, socket, memory] {
            #expect(fcntl(descriptor.number, F_GETFD) & FD_CLOEXEC != 0)
        }
    }

    @Test func aFileThatIsMadeIsThisUsersAlone() throws {
        try withTemporaryDirectory { directory in
            let path = "\(directory)/file"
            #expect(FileDescriptor(opening: path, O_RDONLY) == nil)
            #expect(errno == ENOENT)
            let file = try #require(FileDescriptor(opening: path, O_WRONLY | O_CREAT))
            var status = stat()
            #expect(fstat(file.number, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
    }

    @Test func aPeerThatIsGoneIsAnErrorAndNoSignal() throws {
        let (one, other) = try FileDescriptor.connectedPair()
        #expect(one.send([1, 2, 3]) == 3)
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(other.receive(into: &buffer) == 3)
        #expect(buffer.prefix(3) == [1, 2, 3])
        other.shutDown(.both)
        #expect(one.send([4]) == -1)
        #expect(errno == EPIPE)
    }

    @Test func nobodyChangesAFileInMemory() throws {
        let file = try FileDescriptor.memoryFile(holding: Array("kept".utf8))
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(file.read(into: &buffer) == 4)
        #expect(buffer.prefix(4) == Array("kept".utf8)[...])
        #expect(pwrite(file.number, [0], 1, 0) == -1)
        #expect(ftruncate(file.number, 0) == -1)
    }

    @Test func aWakerIsReadableUntilItIsCleared() throws {
        let waker = try Waker()
        var entry = pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&entry, 1, 0) == 0)
        waker.wakeUp()
        waker.wakeUp()
        #expect(poll(&entry, 1, 0) == 1)
        waker.clear()
        #expect(poll(&entry, 1, 0) == 0)
    }

    @Test func aDirectoryIsRemovedWithoutWhatItsLinksLeadTo() throws {
        try withTemporaryDirectory { directory in
            let (tree, kept) = ("\(directory)/tree", "\(directory)/kept")
            try PrivateFile.makeDirectory("\(tree)/inner")
            try PrivateFile.makeDirectory(kept)
            for path in ["\(tree)/inner/file", "\(kept)/file"] { try PrivateFile.replace(path, with: []) }
            #expect(symlink(kept, "\(tree)/link") == 0)
            #expect(Set(try #require(Directory.names(in: tree))) == ["inner", "link"])
            #expect(Directory.resolved("\(tree)/link") == Directory.resolved(kept))
            Directory.remove(tree)
            #expect(Directory.names(in: tree) == nil)
            #expect(Directory.names(in: kept) == ["file"])
        }
    }
}
