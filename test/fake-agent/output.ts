import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import type { Fields } from './json.ts';

const stdout = 1;
const fullPipeWaitMs = 2;

export interface Output {
  /** Writes one line of JSON, with the session's id and an id of its own. */
  frame(fields: Fields): void;
  /** Writes one line of JSON as it is. */
  line(fields: Fields): void;
  bytes(data: string | Uint8Array): void;
  newId(): string;
}

/**
 * Standard output, written in place, so that nothing is lost when the process ends the moment after.
 * Ids follow from the seed, so that the same conversation prints the same lines.
 */
export function createOutput(sessionId: string, seed: string): Output {
  let count = 0;
  const newId = () => {
    count += 1;
    return uuidOf(`${sessionId} ${seed} ${count}`);
  };
  const bytes = writeBytes;
  const line = (fields: Fields) => bytes(`${JSON.stringify(fields)}\n`);
  return {
    newId,
    bytes,
    line,
    frame: (fields) => line({ ...fields, uuid: fields['uuid'] ?? newId(), session_id: sessionId }),
  };
}

function writeBytes(data: string | Uint8Array): void {
  const bytes = Buffer.from(data);
  for (let written = 0; written < bytes.length; ) {
    written += writeSome(bytes.subarray(written));
  }
}

/** A full pipe is waited for; one that nobody reads any more ends the process, as it does the CLI. */
function writeSome(bytes: Uint8Array): number {
  try {
    return writeSync(stdout, bytes);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EPIPE') process.exit(1);
    if (code !== 'EAGAIN') throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fullPipeWaitMs);
    return 0;
  }
}

function uuidOf(text: string): string {
  const hex = createHash('sha1').update(text).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
