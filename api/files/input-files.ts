import { createHash } from 'node:crypto';
import type { InputFile } from '../../core/hosts/host-rpc.ts';
import { limits } from '../../core/limits.ts';
import { invalid } from '../errors.ts';
import type { InputFileBody } from './input-file-schema.ts';

export interface DecodedFile extends InputFile {
  content: Buffer;
}

/** Refuses what no working directory could hold: a path twice, or a file where a folder must be. */
export function decodeFiles(files: InputFileBody[]): DecodedFile[] {
  const decoded = files.map(decodeFile);
  const bytes = decoded.reduce((sum, { size }) => sum + size, 0);
  if (bytes > limits.filesPerRequestMaxBytes) {
    throw invalid(`body.files: more than ${limits.filesPerRequestMaxBytes} bytes together`);
  }
  const paths = new Set<string>();
  for (const [index, { path }] of files.entries()) {
    if (paths.has(path)) throw invalid(`${at(index)}.path: comes twice`);
    paths.add(path);
  }
  for (const [index, { path }] of files.entries()) {
    if (parentsOf(path).some((folder) => paths.has(folder))) {
      throw invalid(`${at(index)}.path: one of its folders is a file of this request`);
    }
  }
  return decoded;
}

function decodeFile({ path, content: given, encoding, mode }: InputFileBody, index: number) {
  const content = Buffer.from(given, encoding);
  if (encoding === 'base64' && content.toString('base64') !== given) {
    throw invalid(`${at(index)}.content: is not base64`);
  }
  if (encoding === 'utf8' && /\p{Surrogate}/u.test(given)) {
    throw invalid(`${at(index)}.content: holds half of a surrogate pair`);
  }
  if (content.length > limits.fileMaxBytes) {
    throw invalid(`${at(index)}.content: is larger than ${limits.fileMaxBytes} bytes`);
  }
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { path, content, sha256, size: content.length, mode: mode === '0755' ? 0o755 : 0o644 };
}

const at = (index: number): string => `body.files.${index}`;

function parentsOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
