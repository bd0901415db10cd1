// Builds the package of the command line: one file without dependencies. The API serves it as an
// archive.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { licensesOf, root, serviceVersion } from './package-parts.ts';

/** The text of each file of the package. */
export async function buildCliPackage(): Promise<Record<string, string>> {
  return {
    'flowrun.cjs': await bundle(),
    'package.json': `${JSON.stringify(packageDescription(), null, 2)}\n`,
    LICENSE: readFileSync(join(root, 'LICENSE'), 'utf8'),
  };
}

async function bundle(): Promise<string> {
  const contains = licensesOf('commander', 'eventsource-parser', 'yaml');
  const { outputFiles } = await build({
    entryPoints: [join(root, 'cli/remote/main.ts')],
    bundle: true,
    write: false,
    minify: true,
    keepNames: true, // errors have the names of their classes
    // Node loads it faster than an ES module.
    format: 'cjs',
    platform: 'node',
    target: ['node20'],
    legalComments: 'none',
    define: { flowrunVersion: JSON.stringify(serviceVersion()) },
    banner: { js: `#!/usr/bin/env node\n/*! @flowrun/cli, Apache-2.0. Contains ${contains}*/` },
  });
  return outputFiles[0]?.text ?? '';
}

function packageDescription() {
  return {
    name: '@flowrun/cli',
    version: serviceVersion(),
    description: 'Command line of Flowrun.',
    license: 'Apache-2.0',
    bin: { flowrun: './flowrun.cjs' },
    engines: { node: '>=20.16' },
  };
}
