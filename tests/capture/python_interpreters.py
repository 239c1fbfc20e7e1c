"""The CPython interpreters of this machine: pythonX.Y on PATH and every version that pyenv holds."""
import glob
import json
import os
import shutil
import subprocess
import sys

FIRST, LAST = (3, 9), (3, 14)
ASK = ("import json, sys, sysconfig; print(json.dumps({'version': list(sys.version_info[:3]), 'name': "
       "sys.implementation.name, 'include': sysconfig.get_path('include'), 'executable': sys.executable, "
       "'real': sys.base_prefix, 'free_threaded': bool(sysconfig.get_config_var('Py_GIL_DISABLED'))}))")


def pyenv_versions():
    roots = [os.path.expanduser("~/.pyenv"), os.environ.get("PYENV_ROOT")]
    if shutil.which("pyenv"):
        roots.append(subprocess.run(["pyenv", "root"], capture_output=True, text=True).stdout.strip())
    return sorted({os.path.join(root, "versions") for root in roots if root})


def candidates():
    names = ["python3.%d" % minor for minor in range(FIRST[1], LAST[1] + 1)] + ["python3"]
    for folder in ["/usr/bin", "/usr/local/bin"] + os.environ.get("PATH", "").split(os.pathsep):
        for name in names:
            yield os.path.join(folder, name)
    for folder in pyenv_versions():
        yield from sorted(glob.glob(os.path.join(folder, "*", "bin", "python3")))


def find():
    """Description of each different interpreter, oldest first. A shim that stands for none is left out."""
    found = {}
    for path in candidates():
        if not os.access(path, os.X_OK):
            continue
        asked = subprocess.run([path, "-c", ASK], capture_output=True, text=True)
        if asked.returncode != 0:
            continue
        about = json.loads(asked.stdout)
        if about["name"] == "cpython" and FIRST <= tuple(about["version"][:2]) <= LAST:
            found.setdefault((tuple(about["version"]), about["real"]), about)
    return [found[key] for key in sorted(found)]


def label(about):
    return "%d.%d.%d (%s)" % (*about["version"], about["executable"])


def say_missing(interpreters):
    """One line naming the versions that no interpreter here has."""
    here = {tuple(about["version"][:2]) for about in interpreters}
    missing = ["3.%d" % minor for minor in range(FIRST[1], LAST[1] + 1) if (3, minor) not in here]
    print("not on this machine, by table only: %s" % (", ".join(missing) or "none"), flush=True)
    return sys.version_info >= FIRST
