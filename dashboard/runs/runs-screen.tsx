import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { query, setQuery } from '../shell/location.ts';
import { projectHttp } from '../shell/service.ts';
import { FailureNote } from '../ui/failure-note.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { useTitle } from '../ui/use-title.ts';
import { loadFlows } from './flow-names.ts';
import { matchesText, readFilter } from './run-filter.ts';
import { RunFilters } from './run-filters.tsx';
import { openRunList, type RunList } from './run-list.ts';
import { RunRow } from './run-row.tsx';

export function RunsScreen({ projectId }: { projectId: string }) {
  const list = useSignal<RunList | null>(null);
  useTitle('Runs');
  // The text is searched among the loaded rows, so it reads nothing again.
  const filterKey = useComputed(() => JSON.stringify({ ...readFilter(query.value), text: '' }));
  useEffect(() => void loadFlows(projectId), [projectId]);
  useEffect(() => {
    const opened = openRunList(projectHttp(projectId), readFilter(query.peek()));
    list.value = opened;
    return () => opened.stop();
  }, [projectId, filterKey.value]);

  return (
    <>
      <h1>Runs</h1>
      <div class="announce" role="status">
        {list.value !== null && <Announcement list={list.value} />}
      </div>
      <RunFilters projectId={projectId} />
      {list.value !== null && <Rows list={list.value} />}
    </>
  );
}

/** New rows appear when the reader asks for them. */
function Announcement({ list }: { list: RunList }) {
  const count = list.newCount.value;
  return (
    <>
      {list.failure.value !== null && list.rows.value !== null && (
        <span class="bad small">{list.failure.value.message}</span>
      )}
      {count > 0 && (
        <button type="button" class="chip on" onClick={() => list.showNew()}>
          {count === 50 ? '50 or more' : count} new
        </button>
      )}
    </>
  );
}

function Rows({ list }: { list: RunList }) {
  const { text, labels } = readFilter(query.value);
  const rows = list.rows.value;
  if (list.failure.value !== null && rows === null) {
    return <FailureNote failure={list.failure.value} onRetry={() => void list.reload()} />;
  }
  if (rows === null) return <Skeleton what="the runs" />;
  const shown = rows.filter((run) => matchesText(run, text));
  const addLabel = (label: string): void => setQuery({ label: [...new Set([...labels, label])] });
  return (
    <>
      {shown.length === 0 ? (
        <NoRuns />
      ) : (
        <table class="runs">
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col">Run</th>
              <th scope="col" class="wide-only">
                Flow
              </th>
              <th scope="col" class="wide-only">
                Started by
              </th>
              <th scope="col" class="number wide-only">
                Age
              </th>
              <th scope="col" class="number wide-only">
                Turns
              </th>
              <th scope="col" class="number">
                Cost
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((run) => (
              <RunRow key={run.runId} run={run} onLabel={addLabel} />
            ))}
          </tbody>
        </table>
      )}
      {list.hasMore.value && (
        <button type="button" onClick={() => void list.loadMore()}>
          Load older runs
        </button>
      )}
    </>
  );
}

function NoRuns() {
  const hasFilter = query.value.size > 0;
  if (hasFilter) {
    return (
      <div class="empty">
        <h2>No matching runs</h2>
        <button
          type="button"
          onClick={() =>
            setQuery({ text: null, label: null, state: null, flow: null, trigger: null })
          }
        >
          Clear the filters
        </button>
      </div>
    );
  }
  return (
    <div class="empty">
      <h2>No runs yet</h2>
      <p>A run starts when a client calls the API, or when a schedule is due.</p>
      <pre>flowrun run FLOW "Write hello.md" --follow</pre>
    </div>
  );
}
