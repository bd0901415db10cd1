"""Builds the wheel of the package. As it needs no other package, pip needs no registry for it."""

import base64
import hashlib
import re
import zipfile
from pathlib import Path

_WHEEL = "Wheel-Version: 1.0\nGenerator: flowrun\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Called by pip in the folder of this file. Returns the name of the wheel's file."""
    metadata = Path("METADATA").read_text()
    version = re.search(r"^Version: (.+)$", metadata, re.MULTILINE)[1]
    info = f"flowrun_client-{version}.dist-info"
    modules = [path for path in Path("flowrun").rglob("*") if path.suffix in (".py", ".typed")]
    contents = {path.as_posix(): path.read_bytes() for path in sorted(modules)}
    contents[f"{info}/METADATA"] = metadata.encode()
    contents[f"{info}/WHEEL"] = _WHEEL.encode()
    contents[f"{info}/licenses/LICENSE"] = Path("LICENSE").read_bytes()
    record = [_record(path, content) for path, content in contents.items()]
    contents[f"{info}/RECORD"] = "".join([*record, f"{info}/RECORD,,\n"]).encode()
    name = f"flowrun_client-{version}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in contents.items():
            wheel.writestr(path, content)
    return name


def _record(path, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(content)}\n"
