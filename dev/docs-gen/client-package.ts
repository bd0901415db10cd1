// Builds the package of the client: one module, its types and its description. The files are
// committed, and the API serves them as an archive.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { repository } from '../lib/folders.ts';
import { filesIn } from '../lib/hash.ts';

interface PackageFile {
  path: string;
  text: string;
}

export async function buildClientPackage(): Promise<PackageFile[]> {
  const [module, types] = await Promise.all([bundle(), declarations()]);
  const files = {
    'index.js': module,
    'index.d.ts': types,
    'package.json': `${JSON.stringify(packageDescription(), null, 2)}\n`,
  };
  return Object.entries(files).map(([name, text]) => ({
    path: join(repository, 'client/dist', name),
    text,
  }));
}

async function bundle(): Promise<string> {
  const license = readFileSync(join(repository, 'node_modules/eventsource-parser/LICENSE'), 'utf8');
  const { outputFiles } = await build({
    entryPoints: [join(repository, 'client/index.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: ['es2022'],
    mainFields: ['module', 'main'],
    legalComments: 'none',
    banner: { js: `/*! @flowrun/client, Apache-2.0. Contains eventsource-parser:\n${license}*/` },
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
    const program = join(repository, 'node_modules/.bin/tsc');
    const args = ['-p', join(repository, 'client'), ...options, '--rootDir', repository];
    await promisify(execFile)(program, [...args, '--outDir', folder]);
    const index = readFileSync(join(folder, 'client/index.d.ts'), 'utf8');
    const others = filesIn(folder).filter((file) => file !== join(folder, 'client/index.d.ts'));
    const parts = others.map((file) => withoutModules(readFileSync(file, 'utf8')));
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
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    version: string;
  }; // this repository's own
  return {
    name: '@flowrun/client',
    version,
    description: 'Client of Flowrun for Node.js, browsers, Bun and Deno.',
    license: 'Apache-2.0',
    type: 'module',
    exports: { types: './index.d.ts', default: './index.js' },
    types: './index.d.ts',
    sideEffects: false,
    engines: { node: '>=20.16' },
  };
}
