import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { tarEnd, tarHeader, tarPadding } from '../files/archive/tar-header.ts';

interface ServedPackage {
  archive: Buffer;
  /** Changes with the content of the package. */
  build: string;
}

const hashLength = 16;

/**
 * Packs the files that `deploy/bundle-packages.ts` has built. The hash is that of the uncompressed
 * archive, which is the same in every process.
 */
export function readPackage(name: string): ServedPackage {
  const folder = new URL(`../../dist/${name}/`, import.meta.url);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(fileURLToPath(folder), join(entry.parentPath, entry.name)))
    .sort();
  const read = (file: string): Buffer => readFileSync(new URL(file, folder));
  const version = versionIn(String(read(files.includes('METADATA') ? 'METADATA' : 'package.json')));
  const tar = Buffer.concat([...files.flatMap((file) => tarEntry(file, read(file))), tarEnd]);
  const hash = createHash('sha256').update(tar).digest('hex').slice(0, hashLength);
  return { archive: gzipSync(tar, { level: 9 }), build: `${version}-${hash}` };
}

/** The version in the metadata for pip or npm. */
const versionIn = (description: string): string =>
  /^(?:Version: | *"version": ")([^"\n]+)/m.exec(description)?.[1] ?? '';

function tarEntry(name: string, content: Buffer): Buffer[] {
  const mode = name.endsWith('.cjs') ? 0o755 : 0o644;
  const header = tarHeader({ path: `package/${name}`, size: content.length, mode, modifiedAt });
  return [header, content, tarPadding(content.length)];
}

/** Some programs reject files from before 1980. */
const modifiedAt = new Date('2000-01-01T00:00:00Z');
