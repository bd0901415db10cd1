// Reads the archives of the service: regular files in the formats ustar and pax.

interface TarEntry {
  path: string;
  /** Permission bits. */
  mode: number;
  content: Uint8Array<ArrayBuffer>;
}

type Bytes = Uint8Array<ArrayBuffer>;

const blockBytes = 512;

/** Yields one file at a time. Throws if the archive ends early. */
export async function* readTarEntries(
  archive: ReadableStream<Bytes>,
): AsyncGenerator<TarEntry, void, undefined> {
  const bytes = byteReader(archive);
  let longPath: string | null = null;
  try {
    for (;;) {
      const header = await bytes.take(blockBytes);
      if (header[0] === 0) return;
      const content = await takeContent(bytes, octalIn(header, 124, 136));
      const type = String.fromCharCode(header[156] ?? 0);
      if (type === 'x') {
        longPath = pathOfRecords(content);
        continue;
      }
      if (type !== '0') throw new TypeError(`The archive has an entry of the type ${type}.`);
      yield { path: longPath ?? textIn(header, 0, 100), mode: octalIn(header, 100, 108), content };
      longPath = null;
    }
  } finally {
    await bytes.close();
  }
}

async function takeContent({ take }: ByteReader, size: number): Promise<Bytes> {
  const content = await take(size);
  await take((blockBytes - (size % blockBytes)) % blockBytes);
  return content;
}

interface ByteReader {
  take(size: number): Promise<Bytes>;
  close(): Promise<void>;
}

function byteReader(archive: ReadableStream<Bytes>): ByteReader {
  const reader = archive.getReader();
  let rest: Bytes = new Uint8Array();

  async function take(size: number): Promise<Bytes> {
    const taken = new Uint8Array(size);
    for (let filled = 0; filled < size; ) {
      if (rest.length === 0) {
        const { done, value } = await reader.read();
        if (done) throw new TypeError('The archive is incomplete.');
        rest = value;
      }
      const part = rest.subarray(0, size - filled);
      taken.set(part, filled);
      filled += part.length;
      rest = rest.subarray(part.length);
    }
    return taken;
  }

  return { take, close: () => reader.cancel() };
}

const decoder = new TextDecoder();

const textIn = (block: Bytes, from: number, to: number): string =>
  decoder.decode(block.subarray(from, to)).replace(/\0.*/s, '');

const octalIn = (block: Bytes, from: number, to: number): number =>
  Number.parseInt(textIn(block, from, to).trim() || '0', 8);

/** A record is `<length> <name>=<value>\n`, and its length includes everything. */
function pathOfRecords(content: Bytes): string | null {
  for (let at = 0; at < content.length; ) {
    const record = decoder.decode(content.subarray(at));
    const length = Number.parseInt(record, 10);
    const [, path] =
      /^\d+ path=(.*)\n$/s.exec(decoder.decode(content.subarray(at, at + length))) ?? [];
    if (path !== undefined) return path;
    if (!(length > 0)) return null;
    at += length;
  }
  return null;
}
