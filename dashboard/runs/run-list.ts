// The rows of the runs table. While the page is visible, the latest rows are read again every few
// seconds. Known rows change in place. New ones are counted, and appear when the reader asks for
// them, so that nothing moves while it is read.

import { type ReadonlySignal, signal } from '@preact/signals';
import type { RunRecord } from '../../client/generated/types.ts';
import type { Http } from '../../client/http/http.ts';
import { type Failure, failureOf } from '../ui/failure.ts';
import { whileVisible } from '../ui/while-visible.ts';
import { listQueryOf, type RunFilter } from './run-filter.ts';

export interface RunList {
  /** Null until the first rows are there. */
  rows: ReadonlySignal<readonly RunRecord[] | null>;
  newCount: ReadonlySignal<number>;
  hasMore: ReadonlySignal<boolean>;
  failure: ReadonlySignal<Failure | null>;
  /** Shows the new rows. */
  showNew(): void;
  loadMore(): Promise<void>;
  reload(): Promise<void>;
  stop(): void;
}

const pageSize = 50;
const refreshMs = 3_000;

export function openRunList(http: Http, filter: RunFilter): RunList {
  const rows = signal<readonly RunRecord[] | null>(null);
  const fresh = signal<readonly RunRecord[]>([]);
  const newCount = signal(0);
  const hasMore = signal(false);
  const failure = signal<Failure | null>(null);
  const stopping = new AbortController();
  const pages = createPages(http, filter, stopping.signal);
  const guarded = (work: () => Promise<void>) =>
    work().then(
      () => {
        failure.value = null;
      },
      (error: unknown) => {
        if (!stopping.signal.aborted) failure.value = failureOf(error);
      },
    );
  async function readOlder(known: readonly RunRecord[]): Promise<void> {
    const next = await pages.readOlder();
    hasMore.value = next.length === pageSize;
    rows.value = [...known, ...next];
  }

  const loadMore = () => guarded(() => readOlder(rows.value ?? []));
  const reload = () =>
    guarded(async () => {
      pages.restart();
      setFresh([]);
      await readOlder([]);
    });

  function setFresh(runs: readonly RunRecord[]): void {
    fresh.value = runs;
    newCount.value = runs.length;
  }

  const refresh = () =>
    guarded(async () => {
      const known = rows.value;
      if (known === null) return reload();
      const { changed, added } = mergeRows(known, await pages.readLatest());
      rows.value = changed;
      setFresh(added);
      if (known.length === 0) showNew();
    });

  function showNew(): void {
    rows.value = [...fresh.value, ...(rows.value ?? [])];
    setFresh([]);
  }

  const endRefresh = whileVisible(refreshMs, refresh);
  void reload();

  const stop = () => {
    endRefresh();
    stopping.abort();
  };
  return { rows, newCount, hasMore, failure, showNew, loadMore, reload, stop };
}

/** The pages of a filtered list, from the latest run on. */
function createPages(http: Http, filter: RunFilter, stopped: AbortSignal) {
  const query = { ...listQueryOf(filter), limit: pageSize };
  const read = () => http.items<RunRecord>({ path: '/runs', query, signal: stopped });
  let older = read();
  return {
    readLatest: () => take(read(), pageSize),
    readOlder: () => take(older, pageSize),
    restart() {
      older = read();
    },
  };
}

/** The known rows as they are now, and the rows that are newer than all of them. */
function mergeRows(known: readonly RunRecord[], latest: readonly RunRecord[]) {
  const byId = new Map(latest.map((run) => [run.runId, run]));
  const knownIds = new Set(known.map(({ runId }) => runId));
  const newestAt = known[0]?.createdAt ?? '';
  return {
    changed: known.map((run) => byId.get(run.runId) ?? run),
    added: latest.filter((run) => !knownIds.has(run.runId) && run.createdAt >= newestAt),
  };
}

/** The next items of an iterator. Unlike `for await`, it leaves the iterator open. */
async function take<T>(items: AsyncGenerator<T, void, undefined>, count: number): Promise<T[]> {
  const taken: T[] = [];
  while (taken.length < count) {
    const next = await items.next();
    if (next.done === true) break;
    taken.push(next.value);
  }
  return taken;
}
