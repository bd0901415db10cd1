import { createHash } from 'node:crypto';
import type { InputFile } from '../../core/hosts/host-rpc.ts';
import { limits } from '../../core/limits.ts';
import { invalid } from '../errors.ts';
import type { InputFileBody } from './input-file-schema.ts';

export interface DecodedFile extends InputFile {
  content: Buffer;
}

/** Decodes files. Rejects duplicate paths, and a file whose path is a folder of another. */
export function decodeFiles(files: InputFileBody[]): DecodedFile[] {
  const decoded = files.map(decodeFile);
  const bytes = decoded.reduce((sum, { size }) => sum + size, 0);
  if (bytes > limits.file.perRequestMaxBytes) {
    throw invalid(`body.files: must be at most ${limits.file.perRequestMaxBytes} bytes in total`);
  }
  const paths = new Set<string>();
  for (const [index, { path }] of files.entries()) {
    if (paths.has(path)) throw invalid(`${at(index)}.path: must not be repeated`);
    paths.add(path);
  }
  for (const [index, { path }] of files.entries()) {
    if (parentsOf(path).some((folder) => paths.has(folder))) {
      throw invalid(`${at(index)}.path: one of its folders is a file in this request`);
    }
  }
  return decoded;
}

function decodeFile({ path, content: text, encoding, mode }: InputFileBody, index: number) {
  const content = Buffer.from(text, encoding);
  if (encoding === 'base64' && content.toString('base64') !== text) {
    throw invalid(`${at(index)}.content: must be base64`);
  }
  if (encoding === 'utf8' && /\p{Surrogate}/u.test(text)) {
    throw invalid(`${at(index)}.content: must not contain an unpaired surrogate`);
  }
  if (content.length > limits.file.maxBytes) {
    throw invalid(`${at(index)}.content: must be at most ${limits.file.maxBytes} bytes`);
  }
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { path, content, sha256, size: content.length, mode: mode === '0755' ? 0o755 : 0o644 };
}

const at = (index: number): string => `body.files.${index}`;

function parentsOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
