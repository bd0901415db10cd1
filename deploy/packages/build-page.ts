// Builds the web page: one script and one stylesheet for all screens, and scripts that a screen
// loads when it is opened. Each name contains the hash of its content.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { build } from 'esbuild';
import { licensesOf, root } from './package-parts.ts';

const folder = join(root, 'dashboard');

/** The packages whose code is in the scripts. */
const bundled = [
  ...['preact', '@preact/signals', '@preact/signals-core', 'eventsource-parser', 'marked'],
];

/** The files of the page, and of each file a compressed copy with the suffix `.br` and `.gz`. */
export async function buildPage(): Promise<Record<string, string | Uint8Array>> {
  const files = new Map(await bundle());
  const icon = readFileSync(join(folder, 'icon.svg'));
  files.set(`icon-${hashOf(icon)}.svg`, icon);
  files.set('licenses.txt', Buffer.from(licensesOf(...bundled)));
  const index = Buffer.from(indexWith([...files.keys()]));
  const compressed = await Promise.all([...files].map(compress));
  return Object.fromEntries([...files, ...compressed.flat(), ['index.html', index]]);
}

async function bundle(): Promise<[string, Uint8Array][]> {
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'main.tsx'), join(folder, 'styles/main.css')],
    bundle: true,
    splitting: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['es2023'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    outdir: join(root, 'dist/page'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    legalComments: 'none',
    keepNames: false,
  });
  return outputFiles.map(({ path, contents }) => [basename(path), contents]);
}

const hashOf = (content: Uint8Array): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 8).toUpperCase();

/** The page's first document, with the names of the files that it loads. */
function indexWith(names: string[]): string {
  const index = readFileSync(join(folder, 'index.html'), 'utf8');
  return index.replaceAll(/assets\/([\w.]+)/g, (_, file: string) => {
    const extension = extname(file);
    const stem = basename(file, extension);
    const name = names.find((each) => each.startsWith(`${stem}-`) && each.endsWith(extension));
    if (name === undefined) throw new Error(`The build of the page has no ${file}.`);
    return `assets/${name}`;
  });
}

async function compress([name, content]: [string, Uint8Array]) {
  const [brotli, zipped] = await Promise.all([
    promisify(brotliCompress)(content),
    promisify(gzip)(content, { level: 9 }),
  ]);
  return [
    [`${name}.br`, brotli],
    [`${name}.gz`, zipped],
  ] as const;
}
