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
  'client',
  'config',
  'core',
  'dashboard',
  'deploy',
  'lib',
  'systems',
  'worker',
  'workflows',
];

/**
 * `bundled` has the imported packages in the compiled files, because finding and reading their
 * modules took a fifth of the time to load a program. `external` imports them, so that preloaded
 * modules can change their classes.
 */
type Packages = 'bundled' | 'external';

/** Programs of one build share files. Temporal's worker finds its own files beside its modules. */
const builds = [
  { programs: ['api/main.ts', 'deploy/command-line.ts'], external: [] },
  { programs: ['worker/main.ts'], external: ['@temporalio/*'] },
];

/** Packages load these only if they were built for the machine. */
const compiledCode = ['*.node', 'cpu-features'];

/** CommonJS packages use these two names, which modules lack. */
const commonNames = [
  "import { createRequire as createRequireOfPackages } from 'node:module';",
  'const require = createRequireOfPackages(import.meta.url);',
  'const { dirname: __dirname } = import.meta;',
].join('\n');

/**
 * A folder below the packages that the service imports. With a symbolic link, packages would be
 * loaded under two names.
 */
const cache = join(root, 'node_modules/.cache/service');

const compiled = new Map<Packages, Promise<string>>();

/**
 * Returns a folder with the service compiled to JavaScript, each program as a few files. It is
 * built once per version of the sources, because tests start its processes hundreds of times and
 * most of each start was parsing TypeScript and finding modules.
 */
export function compiledService(packages: Packages = 'bundled'): Promise<string> {
  const known = compiled.get(packages) ?? ensure(packages);
  compiled.set(packages, known);
  return known;
}

/** The variable with which Node keeps compiled code, so that only the first start compiles it. */
export function codeCache(): Record<string, string> {
  const folder = process.env['NODE_COMPILE_CACHE'];
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}

async function ensure(packages: Packages): Promise<string> {
  const hashes = sources.map((folder) => hashOfFolder(join(root, folder)));
  const names = ['package-lock.json', 'dist/packages-hash'];
  const files = [import.meta.filename, ...names.map((name) => join(root, name))];
  const contents = files.map((file) => readFileSync(file));
  const folder = join(cache, hashOf(packages, ...contents, ...hashes));
  if (await isThere(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const part = await mkdtemp(`${folder}.`);
  await compileInto(part, { finalFolder: folder, packages });
  // Another test file may have created it meanwhile.
  await rename(part, folder).catch(() => rm(part, { recursive: true }));
  return folder;
}

async function compileInto(
  folder: string,
  { finalFolder, packages }: { finalFolder: string; packages: Packages },
): Promise<void> {
  for (const source of sources) {
    await cp(join(root, source), join(folder, source), { recursive: true });
  }
  for (const served of ['dist/client', 'dist/client-python', 'dist/cli', 'dist/page']) {
    await cp(join(root, served), join(folder, served), { recursive: true });
  }
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  for (const { programs, external } of builds) {
    await build({
      entryPoints: programs.map((program) => join(root, program)),
      outbase: root,
      outdir: folder,
      bundle: true,
      splitting: true,
      ...(packages === 'bundled'
        ? { external: [...external, ...compiledCode], banner: { js: commonNames } }
        : { packages: 'external' }),
      plugins: [keepPaths(finalFolder)],
      keepNames: true, // errors are logged with the names of their classes
      format: 'esm',
      platform: 'node',
      target: 'node22',
      logLevel: 'warning',
    });
  }
}

/** Each module keeps its address from outside the bundle, and so finds the files beside it. */
const keepPaths = (folder: string): Plugin => ({
  name: 'keep paths',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const file = join(folder, relative(root, path)).replace(/\.ts$/, '.js');
      const code = await readFile(path, 'utf8');
      const contents = code
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(file)));
      return { contents, loader: 'ts' };
    }),
});

const isThere = (folder: string): Promise<boolean> =>
  readdir(folder).then(
    () => true,
    () => false,
  );
