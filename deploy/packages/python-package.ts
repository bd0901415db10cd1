// Builds the package of the Python client: its modules, and a program with which pip makes the
// wheel. The API serves it as an archive.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, root, serviceVersion } from './package-parts.ts';

/** The text of each file of the package. */
export function buildPythonPackage(): Record<string, string> {
  const folder = join(root, 'client-python');
  const modules = filesBelow(join(folder, 'flowrun')).filter((file) =>
    /\.py$|^py\.typed$/.test(file),
  );
  const own = [...modules.map((file) => `flowrun/${file}`), 'build_wheel.py', 'pyproject.toml'];
  return {
    ...Object.fromEntries(own.map((file) => [file, readFileSync(join(folder, file), 'utf8')])),
    LICENSE: readFileSync(join(root, 'LICENSE'), 'utf8'),
    METADATA: metadata(),
  };
}

/** The registry has another package with the name `flowrun`. */
const metadata = (): string => `Metadata-Version: 2.1
Name: flowrun-client
Version: ${serviceVersion()}
Summary: Client of Flowrun for Python.
License: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.9
Requires-Dist: httpx>=0.27,<1
Requires-Dist: pydantic>=2.6,<3
Requires-Dist: typing-extensions>=4.7
`;
