// Prints the offsets of allocator/capture/python_layouts.def as an installed CPython's own internal
// headers have them, one "field offset" a line. print_offsets.py compiles it once per version.
#define PY_SSIZE_T_CLEAN
#define Py_BUILD_CORE 1
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>
#include <stdio.h>

#if PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_frame.h>
#include <internal/pycore_runtime.h>
typedef struct _PyInterpreterFrame Frame;
#else
typedef PyFrameObject Frame;
#endif

#define PRINT(name, value) printf("%s %zu\n", name, (size_t)(value))
#define ABSENT 0xffff

int main(void) {
  printf("version 0x%08x\n", PY_VERSION_HEX);
#if PY_VERSION_HEX >= 0x030d0000
  PRINT("thread_frame", offsetof(PyThreadState, current_frame));
  PRINT("cframe_frame", ABSENT);
  PRINT("frame_code", offsetof(Frame, f_executable));
  PRINT("frame_previous", offsetof(Frame, previous));
  PRINT("frame_instruction", offsetof(Frame, instr_ptr));
  PRINT("frame_owner", offsetof(Frame, owner));
#elif PY_VERSION_HEX >= 0x030b0000
  PRINT("thread_frame", offsetof(PyThreadState, cframe));
  PRINT("cframe_frame", offsetof(_PyCFrame, current_frame));
  PRINT("frame_code", offsetof(Frame, f_code));
  PRINT("frame_previous", offsetof(Frame, previous));
  PRINT("frame_instruction", offsetof(Frame, prev_instr));
  PRINT("frame_owner", offsetof(Frame, owner));
#else
  PRINT("thread_frame", offsetof(PyThreadState, frame));
  PRINT("cframe_frame", ABSENT);
  PRINT("frame_code", offsetof(Frame, f_code));
  PRINT("frame_previous", offsetof(Frame, f_back));
  PRINT("frame_instruction", offsetof(Frame, f_lasti));
  PRINT("frame_owner", ABSENT);
#endif
  PRINT("code_file", offsetof(PyCodeObject, co_filename));
  PRINT("code_name", offsetof(PyCodeObject, co_name));
  PRINT("code_first_line", offsetof(PyCodeObject, co_firstlineno));
#if PY_VERSION_HEX >= 0x030b0000
  PRINT("code_function", offsetof(PyCodeObject, co_qualname));
  PRINT("code_linetable", offsetof(PyCodeObject, co_linetable));
  PRINT("code_size", offsetof(PyVarObject, ob_size));
  PRINT("code_bytes", offsetof(PyCodeObject, co_code_adaptive));
  PRINT("code_first_traceable", offsetof(PyCodeObject, _co_firsttraceable));
#else
  PRINT("code_function", offsetof(PyCodeObject, co_name));
#if PY_VERSION_HEX >= 0x030a0000
  PRINT("code_linetable", offsetof(PyCodeObject, co_linetable));
#else
  PRINT("code_linetable", offsetof(PyCodeObject, co_lnotab));
#endif
  PRINT("code_size", offsetof(PyCodeObject, co_code));
  PRINT("code_bytes", ABSENT);
  PRINT("code_first_traceable", ABSENT);
#endif
  PRINT("bytes_size", offsetof(PyVarObject, ob_size));
  PRINT("bytes_text", offsetof(PyBytesObject, ob_sval));
  PRINT("text_length", offsetof(PyASCIIObject, length));
  PRINT("text_state", offsetof(PyASCIIObject, state));
  PRINT("text_ascii", sizeof(PyASCIIObject));
  PRINT("text_wide", sizeof(PyCompactUnicodeObject));
  PyASCIIObject kind;
  for (size_t i = 0; i < sizeof kind; ++i) ((unsigned char*)&kind)[i] = 0;
  kind.state.kind = 1;
  unsigned state = 0;
  for (size_t i = 0; i < sizeof state; ++i)
    state |= (unsigned)((unsigned char*)&kind.state)[i] << (8 * i);
  PRINT("text_kind_shift", __builtin_ctz(state));
  return 0;
}
