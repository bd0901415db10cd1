// The calls of a sandbox on disk, from before each is sent until the ledger has it. A process that died
// leaves them to the next one. Each line is a call that was opened or ended. The file is emptied
// whenever no call is open and the ledger has all others.

import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LedgerEntry } from '../../core/metering/ledger-entry.ts';
import type { ModelPrice } from '../../core/metering/model-prices.ts';

/** What is known of a call before it is sent. */
export interface OpenCall {
  callId: string;
  messageId: string | null;
  model: string;
  startedAt: Date;
  price: ModelPrice | null;
  request: { bytes: number; maxTokens: number };
}

/** What a process left. */
export interface LeftCalls {
  open: OpenCall[];
  ended: LedgerEntry[];
}

interface CallJournal {
  left: LeftCalls;
  opened(call: OpenCall): void;
  ended(call: LedgerEntry): void;
  /** The ledger has every call. */
  clear(): void;
  close(): void;
}

type Line = { opened: OpenCall } | { ended: LedgerEntry };

/**
 * `root` is a folder that only root can access. `onFailure` is called if a line could not be written,
 * so that the death of this process would lose a call.
 */
export function openCallJournal(
  { root, runId }: { root: string; runId: string },
  onFailure: (error: unknown) => void,
): CallJournal {
  const path = join(root, `${prefix}${runId}`);
  const file = openSync(path, 'a+', 0o600);
  // Another file may get the descriptor after it was closed.
  let isClosed = false;
  // Synchronous: a call is sent, and its answer ends, only after its line was written.
  const write = (line: Line): void => {
    try {
      if (isClosed) throw new Error('the journal is closed');
      writeSync(file, `${JSON.stringify(line)}\n`);
    } catch (error) {
      onFailure(error);
    }
  };
  return {
    left: readLines(readFileSync(path, 'utf8')),
    opened: (opened) => write({ opened }),
    ended: (ended) => write({ ended }),
    clear() {
      if (!isClosed) ftruncateSync(file, 0);
    },
    close() {
      if (!isClosed) closeSync(file);
      isClosed = true;
    },
  };
}

const prefix = 'calls-';

/** The journals in a folder of a sandbox that no process supervises any more. */
export async function readCallJournals(root: string): Promise<(LeftCalls & { runId: string })[]> {
  const names = await readdir(root).catch(() => []);
  const journals = names.filter((name) => name.startsWith(prefix));
  return Promise.all(
    journals.map(async (name) => ({
      runId: name.slice(prefix.length),
      ...readLines(await readFile(join(root, name), 'utf8')),
    })),
  );
}

/** The last line is incomplete if its process died while it wrote. */
function readLines(text: string): LeftCalls {
  const open = new Map<string, OpenCall>();
  const ended: LedgerEntry[] = [];
  for (const line of text.split('\n').map(parseLine)) {
    if (line === null) continue;
    if ('opened' in line) {
      open.set(line.opened.callId, withStart(line.opened));
    } else {
      open.delete(line.ended.callId);
      ended.push({ ...withStart(line.ended), endedAt: dateOf(line.ended.endedAt) });
    }
  }
  return { open: [...open.values()], ended };
}

/** Only this module writes the file. */
function parseLine(text: string): Line | null {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}

/** In JSON a date is a text. */
const dateOf = (text: Date): Date => new Date(text);

const withStart = <T extends { startedAt: Date }>(call: T): T => ({
  ...call,
  startedAt: dateOf(call.startedAt),
});
