import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { tarEnd, tarHeader, tarPadding } from '../files/archive/tar-header.ts';

interface ClientPackage {
  /** The npm package. */
  archive: Buffer;
  /** Changes with the content of the package. */
  build: string;
}

const files = ['package.json', 'index.js', 'index.d.ts', 'LICENSE'];
const hashLength = 16;

/**
 * Packs the files that `deploy/bundle-packages.ts` has built. The hash is that of the uncompressed
 * archive, which is the same in every process.
 */
export function readClientPackage(): ClientPackage {
  const contents = files.map((name) => ({
    name,
    content: readFileSync(new URL(`../../dist/client/${name}`, import.meta.url)),
  }));
  const [description] = contents;
  const { version } = JSON.parse(String(description?.content)) as { version: string }; // generated
  const tar = Buffer.concat([
    ...contents.flatMap(({ name, content }) => [
      tarHeader({ path: `package/${name}`, size: content.length, mode: 0o644, modifiedAt }),
      content,
      tarPadding(content.length),
    ]),
    tarEnd,
  ]);
  const hash = createHash('sha256').update(tar).digest('hex').slice(0, hashLength);
  return { archive: gzipSync(tar, { level: 9 }), build: `${version}-${hash}` };
}

/** Some programs reject files from before 1980. */
const modifiedAt = new Date('2000-01-01T00:00:00Z');
