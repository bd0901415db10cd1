import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';

export const encodings = ['br', 'gzip'] as const;
export type Encoding = (typeof encodings)[number];

interface PageFile {
  type: string;
  content: Buffer;
  encoded: Record<Encoding, Buffer>;
}

const folder = new URL('../../dist/page/', import.meta.url);
const read = (name: string): Buffer => readFileSync(new URL(name, folder));

/** The files that `deploy/bundle-packages.ts` has built, by name. */
export function readPageFiles(): Map<string, PageFile> {
  const names = readdirSync(folder).filter((name) => typeOf(name) !== undefined);
  return new Map(
    names.map((name) => [
      name,
      {
        type: typeOf(name) ?? '',
        content: read(name),
        encoded: { br: read(`${name}.br`), gzip: read(`${name}.gz`) },
      },
    ]),
  );
}

export const readPageIndex = (): string => String(read('index.html'));

const typeOf = (name: string): string | undefined => types[extname(name)];

const types: Record<string, string | undefined> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};
