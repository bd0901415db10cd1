// The model calls of a sandbox, in a file on the host. A call is in the file from before it is sent
// until it is in the ledger, so the next process can record the calls of one that died. Each line
// says that a call was opened, has ended or was discarded. The file is emptied whenever no call is
// open and the ledger has all others.

import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LedgerEntry } from '../../core/metering/ledger-entry.ts';
import type { ModelPrice } from '../../core/metering/model-prices.ts';

/** A call that was sent, or is about to be. */
export interface OpenCall {
  callId: string;
  messageId: string | null;
  model: string;
  startedAt: Date;
  price: ModelPrice | null;
  request: { promptTokens: number; maxTokens: number };
}

/** The calls in a journal: those without an answer, and those that have ended. */
export interface JournaledCalls {
  open: OpenCall[];
  ended: LedgerEntry[];
}

export interface CallJournal {
  /** The calls that a previous process could not record. */
  earlier: JournaledCalls;
  opened(call: OpenCall): void;
  ended(call: LedgerEntry): void;
  /** The call has ended, and the ledger does not need it. */
  discarded(callId: string): void;
  /** The ledger has every call. */
  clear(): void;
  close(): void;
}

type Line = { opened: OpenCall } | { ended: LedgerEntry } | { discarded: string };

/**
 * `root` is a folder that only root can access. `onFailure` is called if a line could not be
 * written: the call continues, but would be lost if this process died.
 */
export function openCallJournal(
  { root, runId }: { root: string; runId: string },
  onFailure: (error: unknown) => void,
): CallJournal {
  const path = join(root, `${prefix}${runId}`);
  const file = openSync(path, 'a+', 0o600);
  // After the file was closed, its descriptor may belong to another file.
  let isClosed = false;
  // Synchronous, so that the line is written before the call is sent, or its answer ends.
  const write = (line: Line): void => {
    try {
      if (isClosed) throw new Error('the journal is closed');
      writeSync(file, `${JSON.stringify(line)}\n`);
    } catch (error) {
      onFailure(error);
    }
  };
  return {
    earlier: readLines(readFileSync(path, 'utf8')),
    opened: (opened) => write({ opened }),
    ended: (ended) => write({ ended }),
    discarded: (discarded) => write({ discarded }),
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

/** The journals in the folder of a sandbox that no process supervises any more. */
export async function readCallJournals(
  root: string,
): Promise<(JournaledCalls & { runId: string })[]> {
  const names = await readdir(root).catch(() => []);
  const journals = names.filter((name) => name.startsWith(prefix));
  return Promise.all(
    journals.map(async (name) => ({
      runId: name.slice(prefix.length),
      ...readLines(await readFile(join(root, name), 'utf8')),
    })),
  );
}

/** The last line is incomplete if a process died while writing it. */
function readLines(text: string): JournaledCalls {
  const open = new Map<string, OpenCall>();
  const ended: LedgerEntry[] = [];
  for (const line of text.split('\n').map(parseLine)) {
    if (line === null) continue;
    if ('opened' in line) {
      open.set(line.opened.callId, withStart(line.opened));
    } else if ('discarded' in line) {
      open.delete(line.discarded);
    } else {
      open.delete(line.ended.callId);
      ended.push({ ...withStart(line.ended), endedAt: dateOf(line.ended.endedAt) });
    }
  }
  return { open: [...open.values()], ended };
}

/** Null for an incomplete line. The cast is safe, because only this module writes the file. */
function parseLine(text: string): Line | null {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}

/** JSON contains dates as strings. */
const dateOf = (text: Date): Date => new Date(text);

const withStart = <T extends { startedAt: Date }>(call: T): T => ({
  ...call,
  startedAt: dateOf(call.startedAt),
});
