import { cp, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { filesIn, hashOf, hashOfFolder } from '../../dev/lib/hash.ts';

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

/**
 * A folder below the packages that the service imports. With a symbolic link, packages would be
 * loaded under two names.
 */
const cache = join(root, 'node_modules/.cache/service');

let compiled: Promise<string> | null = null;

/**
 * Returns a folder with the service compiled to JavaScript. It is built once per version of the
 * sources, because tests start its processes hundreds of times and most of each start was parsing
 * TypeScript.
 */
export const compiledService = (): Promise<string> => (compiled ??= ensure());

async function ensure(): Promise<string> {
  const hashes = sources.map((folder) => hashOfFolder(join(root, folder)));
  const folder = join(cache, hashOf(...hashes));
  if (await isThere(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const part = await mkdtemp(`${folder}.`);
  await compileInto(part);
  // Another test file may have created it meanwhile.
  await rename(part, folder).catch(() => rm(part, { recursive: true }));
  return folder;
}

async function compileInto(folder: string): Promise<void> {
  for (const source of sources) {
    await cp(join(root, source), join(folder, source), { recursive: true });
  }
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  await build({
    entryPoints: sources.flatMap((source) =>
      filesIn(join(root, source)).filter((file) => file.endsWith('.ts')),
    ),
    outbase: root,
    outdir: folder,
    bundle: true,
    plugins: [eachFileForItself],
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
}

const eachFileForItself: Plugin = {
  name: 'each file for itself',
  setup: ({ onResolve }) =>
    onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === 'entry-point'
        ? null
        : { external: true, path: path.replace(/^(\.{1,2}\/.*)\.ts$/, '$1.js') },
    ),
};

const isThere = (folder: string): Promise<boolean> =>
  readdir(folder).then(
    () => true,
    () => false,
  );
