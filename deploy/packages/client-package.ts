// Builds the package of the client: one module, its types and its description. The API serves them
// as an archive.

import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { licensesOf, root, serviceVersion } from './package-parts.ts';

/** The text of each file of the package. */
export async function buildClientPackage(): Promise<Record<string, string>> {
  const [module, types] = await Promise.all([bundle(), declarations()]);
  return {
    'index.js': module,
    'index.d.ts': types,
    'package.json': `${JSON.stringify(packageDescription(), null, 2)}\n`,
    LICENSE: readFileSync(join(root, 'LICENSE'), 'utf8'),
  };
}

async function bundle(): Promise<string> {
  const contains = licensesOf('eventsource-parser');
  const { outputFiles } = await build({
    entryPoints: [join(root, 'client/index.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: ['es2022'],
    mainFields: ['module', 'main'],
    legalComments: 'none',
    banner: { js: `/*! @flowrun/client, Apache-2.0. Contains ${contains}*/` },
  });
  return outputFiles[0]?.text ?? '';
}

/**
 * The declarations of all modules in one file. Their names are unique in the client, so each file's
 * imports and exports are left out, and the list of the package's exports follows.
 */
async function declarations(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'client-types-'));
  try {
    const options = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly'];
    const program = join(root, 'node_modules/.bin/tsc');
    const args = ['-p', join(root, 'client'), ...options, '--rootDir', root];
    await promisify(execFile)(program, [...args, '--outDir', folder]);
    const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
    const index = read('client/index.d.ts');
    const others = files.filter((file) => file.endsWith('.d.ts') && file !== 'client/index.d.ts');
    const parts = others.map((file) => withoutModules(read(file)));
    const exported = [...index.matchAll(/export (type )?\{([^}]*)\}/g)].flatMap(
      ([, type = '', names = '']) => names.split(',').map((name) => `${type}${name.trim()}`),
    );
    const names = exported.filter((name) => !/^(type )?$/.test(name)).map((name) => `  ${name},\n`);
    return `${parts.join('\n')}\nexport {\n${names.join('')}};\n`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const withoutModules = (text: string): string =>
  text
    .replace(/^import [^;]*;\n/gm, '')
    .replace(/^export \{[^;]*;\n/gm, '')
    .replace(/^export (?=declare|interface|type)/gm, '')
    .trim();

function packageDescription() {
  return {
    name: '@flowrun/client',
    version: serviceVersion(),
    description: 'Client of Flowrun for Node.js, browsers, Bun and Deno.',
    license: 'Apache-2.0',
    type: 'module',
    exports: { types: './index.d.ts', default: './index.js' },
    types: './index.d.ts',
    sideEffects: false,
    engines: { node: '>=20.16' },
  };
}
