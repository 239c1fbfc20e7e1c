"""cuheap's C table (allocator/include/cuheap/core.h) from Python, for benchmarks."""
import ctypes

FIELDS = ("step", "mark", "block_born", "block_died", "block_survived", "out_of_memory", "used_sample", "pool_sample",
          "device_identity", "safe_point", "count_call", "watch")


class Table(ctypes.Structure):
    _fields_ = [("table_bytes", ctypes.c_size_t), ("version", ctypes.c_char_p)] + [(name, ctypes.c_void_p) for name in FIELDS]


def watch(on):
    """Events are recorded (1) or only forwarded (0)."""
    find = ctypes.CDLL(None).cuheap_core_v1
    find.restype = ctypes.POINTER(Table)
    ctypes.CFUNCTYPE(None, ctypes.c_int)(find().contents.watch)(on)
