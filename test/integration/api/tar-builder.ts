// Archives that no tar program writes.

interface TarEntry {
  name?: string | Buffer;
  content?: string | Buffer;
  /** The letter of the entry's type. */
  type?: string;
  /** The field as it is written; the length of the content by default. */
  size?: string | Buffer;
  mode?: string;
  magic?: string;
  checksum?: string;
  /** Written over the rest of the header. */
  at?: Record<number, string>;
}

const block = 512;
export const end = Buffer.alloc(2 * block);

/** One entry with its content. */
export function entry(given: TarEntry = {}): Buffer {
  const content = Buffer.from(given.content ?? '');
  const header = Buffer.alloc(block);
  const put = (value: string | Buffer, at: number) => Buffer.from(value).copy(header, at);
  put(given.name ?? 'a.txt', 0);
  put(given.mode ?? '0000644', 100);
  put('0000000', 108);
  put('0000000', 116);
  put(given.size ?? content.length.toString(8).padStart(11, '0'), 124);
  put('00000000000', 136);
  put(given.type ?? '0', 156);
  put(given.magic ?? 'ustar\x0000', 257);
  for (const [at, value] of Object.entries(given.at ?? {})) put(value, Number(at));
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(given.checksum ?? `${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const padding = Buffer.alloc((block - (content.length % block)) % block);
  return Buffer.concat([header, content, padding]);
}

export const archive = (...entries: TarEntry[]): Buffer =>
  Buffer.concat([...entries.map(entry), end]);

/** An entry with records for the next one. */
export const records = (...pairs: [key: string, value: string][]): TarEntry => ({
  type: 'x',
  content: pairs.map(([key, value]) => paxRecord(key, value)).join(''),
});

/** GNU tar's entry with the path of the next one. */
export const longPath = (path: string): TarEntry => ({ type: 'L', content: `${path}\0` });

/** A record begins with its length, which includes the digits of the length. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  const guess = bytes + String(bytes).length;
  return `${bytes + String(guess).length}${rest}`;
}
