import type { InputFile } from '../generated/types.ts';

/** A file to send. Text is sent as UTF-8. */
export interface FileContent {
  /** Relative to the working directory, with slashes. */
  path: string;
  content: string | Uint8Array;
  mode?: '0644' | '0755';
}

export function toInputFile({ content, ...file }: FileContent): InputFile {
  return typeof content === 'string'
    ? { ...file, content, encoding: 'utf8' }
    : { ...file, content: toBase64(content), encoding: 'base64' };
}

/** In parts, because a function takes only some ten thousand arguments. */
function toBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += partBytes) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + partBytes)));
  }
  return btoa(parts.join(''));
}

const partBytes = 8_192;
