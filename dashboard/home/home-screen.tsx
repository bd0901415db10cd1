import { useEffect } from 'preact/hooks';
import type { RunRecord } from '../../client/generated/types.ts';
import { flowNameOf, loadFlows } from '../runs/flow-names.ts';
import { titleOf } from '../runs/run-title.ts';
import { hrefOf } from '../shell/location.ts';
import { projectHttp } from '../shell/service.ts';
import { Loaded } from '../ui/loaded.tsx';
import { collect, useLoading } from '../ui/loading.ts';
import { stateOf } from '../ui/run-state.ts';
import { StateMark } from '../ui/state-mark.tsx';
import { Age } from '../ui/times.tsx';
import { useTitle } from '../ui/use-title.ts';
import { whileVisible } from '../ui/while-visible.ts';

const refreshMs = 4_000;
/** How many runs each list shows. */
const shownRuns = 20;

/** What needs the operator, and what runs now. */
export function HomeScreen({ projectId }: { projectId: string }) {
  const runsWith = (query: Record<string, string>) => (signal: AbortSignal) => {
    const request = { path: '/runs' as const, query: { ...query, limit: shownRuns }, signal };
    return collect(projectHttp(projectId).items<RunRecord>(request), shownRuns);
  };
  const waiting = useLoading(runsWith({ agentStatus: 'waiting' }), [projectId]);
  const running = useLoading(runsWith({ status: 'running' }), [projectId]);
  useTitle('Home');
  useEffect(() => {
    void loadFlows(projectId);
    return whileVisible(refreshMs, async () => {
      waiting.reload();
      running.reload();
    });
  }, [projectId]);
  return (
    <>
      <h1>Home</h1>
      <section aria-labelledby="waiting" class="home">
        <h2 id="waiting">Needs you</h2>
        <Loaded loading={waiting} what="the runs that wait">
          {(runs) =>
            runs.length === 0 ? (
              <p class="muted">No agent waits for an answer.</p>
            ) : (
              <Runs runs={runs} />
            )
          }
        </Loaded>
      </section>
      <section aria-labelledby="running" class="home">
        <h2 id="running">Running now</h2>
        <Loaded loading={running} what="the active runs">
          {(runs) => <Running projectId={projectId} runs={runs} />}
        </Loaded>
      </section>
    </>
  );
}

interface RunningProps {
  projectId: string;
  runs: readonly RunRecord[];
}

/** Runs that wait for an answer are in the list above. */
function Running({ projectId, runs }: RunningProps) {
  const others = runs.filter(({ agentStatus }) => agentStatus !== 'waiting');
  return (
    <>
      {others.length === 0 ? <p class="muted">Nothing else runs.</p> : <Runs runs={others} />}
      <p>
        <a href={hrefOf('runs', { projectId })}>All runs</a>
      </p>
    </>
  );
}

function Runs({ runs }: { runs: readonly RunRecord[] }) {
  return (
    <ul class="plain rows">
      {runs.map((run) => (
        <li key={run.runId}>
          <RunLink run={run} />
        </li>
      ))}
    </ul>
  );
}

function RunLink({ run }: { run: RunRecord }) {
  const { projectId, runId, flowId, sessionId } = run;
  return (
    <a data-row href={hrefOf(sessionId === null ? 'run' : 'chat', { projectId, runId })}>
      <StateMark state={stateOf(run)} />
      <span class="cut" title={titleOf(run)}>
        {titleOf(run)}
      </span>
      <span class="cut muted wide-only">{flowNameOf(projectId, flowId) ?? '…'}</span>
      <span class="muted number">
        <Age at={run.startedAt ?? run.createdAt} />
      </span>
    </a>
  );
}
