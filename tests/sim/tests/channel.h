// A road for file descriptors between the processes of a test: made before the forks, sent into one
// end, received from the other.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

namespace cuheap::sim {

class Channel {
 public:
  Channel() { EXPECT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends_)); }
  ~Channel() {
    close(ends_[0]);
    close(ends_[1]);
  }

  bool SendDescriptor(int fd) {
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message = Message(control);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    return sendmsg(ends_[0], &message, 0) == 1;
  }
  int ReceiveDescriptor() {
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message = Message(control);
    int fd = -1;
    if (recvmsg(ends_[1], &message, 0) != 1 || CMSG_FIRSTHDR(&message) == nullptr) return fd;
    std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
    return fd;
  }

 private:
  msghdr Message(char (&control)[CMSG_SPACE(sizeof(int))]) {
    part_ = {&byte_, 1};
    msghdr message{};
    message.msg_iov = &part_;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    return message;
  }

  int ends_[2] = {-1, -1};
  char byte_ = 0;
  iovec part_{};
};

}  // namespace cuheap::sim
