import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { hashOf, hashOfFolder } from '../../dev/lib/hash.ts';

const root = new URL('../../', import.meta.url).pathname;
const sources = [
  'activities',
  'api',
  'cli',
  'config',
  'core',
  'deploy',
  'lib',
  'systems',
  'worker',
  'workflows',
];

const programs = ['api/main.ts', 'worker/main.ts', 'deploy/command-line.ts'];

/**
 * A folder below the packages that the service imports. With a symbolic link, packages would be
 * loaded under two names.
 */
const cache = join(root, 'node_modules/.cache/service');

// Bundled CommonJS packages load Node's own modules with `require`.
const importRequire = "import { createRequire as requireFrom } from 'node:module';";
const defineRequire = 'const require = requireFrom(import.meta.url);';

let compiled: Promise<string> | null = null;

/**
 * Returns a folder with the programs of the service bundled to JavaScript. It is built once per
 * version of the sources. Tests start its processes hundreds of times, and most of each start was
 * resolving and compiling 2 000 modules.
 */
export const compiledService = (): Promise<string> => (compiled ??= ensure());

/** Where Node keeps the compiled code of these programs. */
export const codeCacheOf = (folder: string): Record<string, string> => ({
  NODE_COMPILE_CACHE: join(folder, 'code-cache'),
});

async function ensure(): Promise<string> {
  const hashes = sources.map((folder) => hashOfFolder(join(root, folder)));
  const recipe = [import.meta.filename, join(root, 'package-lock.json')];
  // The bundles contain the path, because a cache can be copied with the packages.
  const parts = [root, ...hashes, ...recipe.map((file) => readFileSync(file))];
  const folder = join(cache, hashOf(...parts));
  if (await isThere(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const part = await mkdtemp(`${folder}.`);
  await compileInto(part, folder);
  // Another test file may have created it meanwhile.
  await rename(part, folder).catch(() => rm(part, { recursive: true }));
  return folder;
}

async function compileInto(folder: string, finalFolder: string): Promise<void> {
  for (const source of sources) {
    await cp(join(root, source), join(folder, source), { recursive: true });
  }
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  await build({
    entryPoints: programs.map((program) => join(root, program)),
    outbase: root,
    outdir: folder,
    bundle: true,
    splitting: true,
    // Native code, and what it shares with its packages, cannot be part of a bundle.
    external: ['@temporalio/*', '@grpc/*', 'protobufjs', 'cpu-features', '*.node'],
    plugins: [keepPaths(finalFolder)],
    chunkNames: 'chunks/[name]-[hash]',
    banner: { js: `${importRequire}${defineRequire}` },
    format: 'esm',
    platform: 'node',
    target: 'node22',
    logLevel: 'warning',
  });
}

/** Each module sees the path that it has without a bundle, so that it finds the files beside it. */
const keepPaths = (folder: string): Plugin => ({
  name: 'keep paths',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const file = join(folder, relative(root, path)).replace(/\.ts$/, '.js');
      const code = await readFile(path, 'utf8');
      return {
        contents: code
          .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href))
          .replaceAll('import.meta.dirname', JSON.stringify(dirname(file))),
        loader: 'ts',
      };
    });
    onLoad({ filter: /\/node_modules\/.*\.c?js$/ }, async ({ path }) => {
      const contents = await readFile(path, 'utf8');
      if (!contents.includes('__dirname')) return null;
      const itsFolder = `$1;var __dirname = ${JSON.stringify(dirname(path))};`;
      return { contents: contents.replace(/^(['"]use strict['"];?)?/, itsFolder) };
    });
  },
});

const isThere = (folder: string): Promise<boolean> =>
  readdir(folder).then(
    () => true,
    () => false,
  );
