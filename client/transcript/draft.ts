import type { Entry } from './entries.ts';
import { emptyTranscript, type Transcript } from './state.ts';

/** A transcript that is being extended. The list is a copy; entries are replaced, not changed. */
export interface Draft extends Omit<Transcript, 'entries'> {
  entries: Entry[];
}

type WithoutKey<One> = One extends Entry ? Omit<One, 'key' | 'seq'> : never;
type NewEntry = WithoutKey<Entry>;

interface Place {
  seq: number | null;
  /** The tool call whose subagent has made the entry. */
  parent?: string | null;
}

export function addEntry(draft: Draft, { seq, parent = null }: Place, entry: NewEntry): void {
  if (parent === null) {
    draft.entries.push(keyed(entry, seq, draft.entries));
    return;
  }
  updateEntry(draft, (tool) => {
    if (tool.kind !== 'tool' || tool.toolUseId !== parent) return null;
    return { ...tool, children: [...tool.children, keyed(entry, seq, tool.children)] };
  });
}

/**
 * A frame can have several entries, and an entry may have no frame. The key of an entry with a
 * frame stays the same when earlier entries are loaded.
 */
function keyed(entry: NewEntry, seq: number | null, among: readonly Entry[]): Entry {
  const others = seq === null ? 0 : 1 + among.findLastIndex((other) => other.seq !== seq);
  return { ...entry, seq, key: `${seq ?? ''}.${among.length - others}` };
}

type Change = (entry: Entry) => Entry | null;

/** Replaces the last entry for which `change` returns one; null leaves an entry as it is. */
export function updateEntry(draft: Draft, change: Change): void {
  const at = draft.entries.findLastIndex((entry) => changedEntry(entry, change) !== null);
  const entry = draft.entries[at];
  const changed = entry === undefined ? null : changedEntry(entry, change);
  if (changed !== null) draft.entries[at] = changed;
}

function changedEntry(entry: Entry, change: Change): Entry | null {
  const changed = change(entry);
  if (changed !== null || entry.kind !== 'tool') return changed;
  for (const [at, child] of [...entry.children.entries()].reverse()) {
    const changedChild = changedEntry(child, change);
    if (changedChild !== null) return { ...entry, children: entry.children.with(at, changedChild) };
  }
  return null;
}

/** Closes everything that the agent was waiting for, because the turn has ended. */
export function closeOpenEntries(draft: Draft): void {
  draft.typing = emptyTranscript.typing;
  draft.entries = draft.entries.map(closed);
}

function closed(entry: Entry): Entry {
  if (entry.kind === 'question' && entry.state === 'open') return { ...entry, state: 'withdrawn' };
  if (entry.kind !== 'tool') return entry;
  if (entry.state !== 'running' && entry.children.length === 0) return entry;
  const state = entry.state === 'running' ? 'stopped' : entry.state;
  return { ...entry, state, children: entry.children.map(closed) };
}
