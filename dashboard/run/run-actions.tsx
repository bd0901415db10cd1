import type { RunOfOperator, RunRecord } from '../../client/generated/types.ts';
import { titleOf } from '../runs/run-title.ts';
import { open } from '../shell/location.ts';
import { temporalNamespace, temporalUiUrl } from '../shell/settings.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { ConfirmButton } from '../ui/confirm.tsx';
import type { RunFeed } from './run-feed.ts';

interface RunActionsProps {
  feed: RunFeed;
  record: RunOfOperator;
}

/** What an operator can do with a run in its state. */
export function RunActions({ feed, record }: RunActionsProps) {
  const { http, runId, refresh } = feed;
  const { projectId, finishedAt, sessionId, workflowId } = record;
  const post = <Data,>(action: string, json: object, isRepeatable: boolean): Promise<Data> =>
    http.data<Data>({ method: 'POST', path: `/runs/${runId}/${action}`, json, isRepeatable });

  async function retry(): Promise<void> {
    const idempotencyKey = crypto.randomUUID();
    const next = await post<RunRecord>('retry', { idempotencyKey }, true);
    open('run', { projectId, runId: next.runId });
  }
  async function deleteRun(): Promise<void> {
    await http.remove({ path: `/runs/${runId}` }, null);
    open('runs', { projectId });
  }

  return (
    <div class="row actions">
      {finishedAt === null && sessionId !== null && (
        <ActionButton
          title="End the current turn. The session continues."
          onAction={() => post('interrupt', {}, false)}
        >
          Interrupt
        </ActionButton>
      )}
      {finishedAt === null && (
        <ConfirmButton
          action="Stop"
          title={`Stop ${titleOf(record)}?`}
          onConfirm={async () => {
            await post('stop', {}, true);
            await refresh();
          }}
        >
          <p>
            The agent gets 10 seconds to finish. {sessionId !== null && 'The session ends. '}
            The log and the files are kept.
          </p>
        </ConfirmButton>
      )}
      {finishedAt !== null && sessionId === null && (
        <ActionButton title="Start a new run with the same input" onAction={retry}>
          Retry
        </ActionButton>
      )}
      <WorkflowLink workflowId={workflowId} />
      <ConfirmButton action="Delete" title={`Delete ${titleOf(record)}?`} onConfirm={deleteRun}>
        <p>
          If the run is active, it is stopped. Its log and its files are deleted. This cannot be
          undone.
        </p>
      </ConfirmButton>
    </div>
  );
}

function WorkflowLink({ workflowId }: { workflowId: string }) {
  if (temporalUiUrl === null) return null;
  const url = temporalUiUrl.replace(/\/$/, '');
  const path = `namespaces/${encodeURIComponent(temporalNamespace)}/workflows/${encodeURIComponent(workflowId)}`;
  return (
    <a
      class="button"
      href={`${url}/${path}`}
      title="Open the workflow in the Temporal UI"
      target="_blank"
      rel="noopener noreferrer"
    >
      Temporal
    </a>
  );
}
