import { createHash } from 'node:crypto';
import type { InputFile } from '../../core/hosts/host-rpc.ts';
import { limits } from '../../core/limits.ts';
import { invalid } from '../errors.ts';
import type { InputFileBody } from './input-file-schema.ts';

export interface DecodedFile extends InputFile {
  content: Buffer;
  /** What an error message calls its path. */
  label: string;
}

/** Decodes the files of a JSON body. */
export function decodeFiles(files: InputFileBody[]): DecodedFile[] {
  const decoded = files.map(decodeFile);
  checkFiles(decoded, 'body.files');
  return decoded;
}

/** Rejects too many bytes, duplicate paths, and a file whose path is a folder of another. */
export function checkFiles(files: DecodedFile[], all: string): void {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > limits.file.perRequestMaxBytes) {
    throw invalid(`${all}: must be at most ${limits.file.perRequestMaxBytes} bytes in total`);
  }
  const paths = new Set<string>();
  for (const { path, label } of files) {
    if (paths.has(path)) throw invalid(`${label}: must not be repeated`);
    paths.add(path);
  }
  for (const { path, label } of files) {
    if (parentsOf(path).some((folder) => paths.has(folder))) {
      throw invalid(`${label}: one of its folders is a file in this request`);
    }
  }
}

function decodeFile({ path, content: text, encoding, mode }: InputFileBody, index: number) {
  const at = `body.files.${index}`;
  const content = Buffer.from(text, encoding);
  if (encoding === 'base64' && content.toString('base64') !== text) {
    throw invalid(`${at}.content: must be base64`);
  }
  if (encoding === 'utf8' && /\p{Surrogate}/u.test(text)) {
    throw invalid(`${at}.content: must not contain an unpaired surrogate`);
  }
  if (content.length > limits.file.maxBytes) {
    throw invalid(`${at}.content: must be at most ${limits.file.maxBytes} bytes`);
  }
  const bits = mode === '0755' ? 0o755 : 0o644;
  return describeFile({ path, content, mode: bits, label: `${at}.path` });
}

export function describeFile(
  file: Pick<DecodedFile, 'path' | 'content' | 'mode' | 'label'>,
): DecodedFile {
  const sha256 = createHash('sha256').update(file.content).digest('hex');
  return { ...file, sha256, size: file.content.length };
}

function parentsOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
