import type { RunOfOperator } from '../../client/generated/types.ts';
import type { Transcript } from '../../client/transcript/state.ts';
import { flowNameOf } from '../runs/flow-names.ts';
import { titleOf } from '../runs/run-title.ts';
import { hrefOf } from '../shell/location.ts';
import { countText, dollarText, plural } from '../ui/format.ts';
import { causeOf, stateOf } from '../ui/run-state.ts';
import { StateMark } from '../ui/state-mark.tsx';
import { Elapsed } from '../ui/times.tsx';
import { useTitle } from '../ui/use-title.ts';
import { RunActions } from './run-actions.tsx';
import type { RunFeed } from './run-feed.ts';

interface RunHeaderProps {
  feed: RunFeed;
  record: RunOfOperator;
}

export function RunHeader({ feed, record }: RunHeaderProps) {
  const { projectId, flowId, createdBy, error, finishedAt, startedAt, createdAt } = record;
  const { agentStatus, status } = feed.transcript.value;
  useTitle(titleOf(record));
  // The stream is ahead of the record.
  const live = finishedAt === null && status !== null ? { ...record, status, agentStatus } : record;
  return (
    <header class="run-header">
      <nav class="small" aria-label="Path">
        <a href={hrefOf('runs', { projectId })}>Runs</a>
      </nav>
      <div class="run-title">
        <h1 class="cut" title={titleOf(record)}>
          {titleOf(record)}
        </h1>
        <RunActions feed={feed} record={record} />
      </div>
      <div class="facts">
        <StateMark state={stateOf(live)} />
        <span class="cut">
          {flowNameOf(projectId, flowId) ?? '…'} · {createdBy.keyName}
          {createdBy.createdBy !== createdBy.keyName && ` (${createdBy.createdBy})`}
        </span>
        <Elapsed from={startedAt ?? createdAt} to={finishedAt} />
        <span class="number">{plural(record.numTurns, 'turn')}</span>
        <Tokens record={record} reported={feed.transcript.value.reported} />
        <Cost record={record} reported={feed.transcript.value.reported} />
      </div>
      {record.retryOf !== null && (
        <a class="small" href={hrefOf('run', { projectId, runId: record.retryOf })}>
          Retry of another run
        </a>
      )}
      {error !== undefined && stateOf(record) === 'failed' && (
        <p class="note note-bad">{causeOf(error)}</p>
      )}
      {record.offlineModel === true && (
        <p class="note">The offline model answered this run, so its text is made up.</p>
      )}
    </header>
  );
}

interface FiguresProps {
  record: RunOfOperator;
  reported: Transcript['reported'];
}

/** The counts that the agent reports, until the service has measured as many. */
function Tokens({ record: { usage, finishedAt }, reported }: FiguresProps) {
  const measured = usage.inputTokens + usage.outputTokens + usage.cacheReadInputTokens;
  const total = measured + usage.cacheCreationInputTokens;
  const live = reported.inputTokens + reported.outputTokens;
  if (finishedAt !== null || total >= live) {
    return <span class="number">{countText(total)} tokens</span>;
  }
  return <span class="number">≈ {countText(live)} tokens</span>;
}

function Cost({ record: { costUsd }, reported }: FiguresProps) {
  if (costUsd !== null) return <span class="number">{dollarText(costUsd)}</span>;
  if (reported.costUsd === 0) return <span class="number muted">no cost yet</span>;
  return (
    <span class="number" title="Reported by the agent">
      ≈ {dollarText(reported.costUsd)}
    </span>
  );
}
