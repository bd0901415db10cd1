import { createHash } from 'node:crypto';
import type { Fields } from './json.ts';

export interface Output {
  /** Writes one line of JSON, with the session's id and an id of its own. */
  frame(fields: Fields): void;
  /** Writes one line of JSON as it is. */
  line(fields: Fields): void;
  bytes(data: string | Uint8Array): void;
  newId(): string;
}

/**
 * Standard output: writing to a file or a pipe is synchronous on Linux, so nothing is lost by ending at once.
 * Ids follow from the seed, so that the same conversation prints the same lines.
 */
export function createOutput(sessionId: string, seed: string): Output {
  let count = 0;
  const newId = () => {
    count += 1;
    return uuidOf(`${sessionId} ${seed} ${count}`);
  };
  process.stdout.on('error', () => process.exit(1));
  const bytes = (data: string | Uint8Array) => void process.stdout.write(data);
  const line = (fields: Fields) => bytes(`${JSON.stringify(fields)}\n`);
  return {
    newId,
    bytes,
    line,
    frame: (fields) => line({ ...fields, uuid: fields['uuid'] ?? newId(), session_id: sessionId }),
  };
}

function uuidOf(text: string): string {
  const hex = createHash('sha1').update(text).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
