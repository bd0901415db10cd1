import { useEffect } from 'preact/hooks';
import type { SessionDetails } from '../../client/generated/types.ts';
import { openSession } from '../../client/sessions/session.ts';
import { flowsOf, hasNoFlows, loadFlows } from '../runs/flow-names.ts';
import { hrefOf, open, query, setQuery } from '../shell/location.ts';
import { projectHttp } from '../shell/service.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { plural } from '../ui/format.ts';
import { Loaded } from '../ui/loaded.tsx';
import { collect, useLoading } from '../ui/loading.ts';
import { stateOf } from '../ui/run-state.ts';
import { StateMark } from '../ui/state-mark.tsx';
import { Age } from '../ui/times.tsx';
import { useTitle } from '../ui/use-title.ts';

/** The sessions of a flow, and a button that opens another. */
export function ChatsScreen({ projectId }: { projectId: string }) {
  const flows = flowsOf(projectId);
  const flowId = query.value.get('flow') ?? flows[0]?.flowId ?? null;
  useTitle('Chat');
  useEffect(() => void loadFlows(projectId), [projectId]);

  async function openChat(): Promise<void> {
    if (flowId === null) return;
    const session = await openSession(projectHttp(projectId), flowId, { partialMessages: true });
    open('chat', { projectId, runId: session.run.runId });
  }

  if (hasNoFlows(projectId)) return <NoFlows />;
  return (
    <>
      <h1>Chat</h1>
      <div class="filters">
        <select
          aria-label="Flow"
          value={flowId ?? ''}
          onChange={({ currentTarget }) => setQuery({ flow: currentTarget.value })}
        >
          {flows.map((flow) => (
            <option key={flow.flowId} value={flow.flowId}>
              {flow.name}
            </option>
          ))}
        </select>
        <ActionButton class="primary" onAction={openChat}>
          New chat
        </ActionButton>
      </div>
      {flowId !== null && <Sessions key={flowId} projectId={projectId} flowId={flowId} />}
    </>
  );
}

function NoFlows() {
  return (
    <div class="empty">
      <h1>No flows yet</h1>
      <p>A chat is a conversation with the agent of a flow.</p>
      <pre>flowrun flow create --name writer</pre>
    </div>
  );
}

/** How many sessions are listed. */
const shownSessions = 100;

function Sessions({ projectId, flowId }: { projectId: string; flowId: string }) {
  const read = (signal: AbortSignal) =>
    collect(
      projectHttp(projectId).items<SessionDetails>({ path: `/flows/${flowId}/sessions`, signal }),
      shownSessions,
    );
  const loading = useLoading(read, [projectId, flowId]);
  return (
    <Loaded loading={loading}>
      {(sessions) =>
        sessions.length === 0 ? (
          <div class="empty">
            <h2>No chats with this flow</h2>
            <p>
              <b>New chat</b> opens one. It keeps its files and its conversation, even while it
              sleeps.
            </p>
          </div>
        ) : (
          <ul class="plain rows">
            {sessions.map((session) => (
              <li key={session.runId}>
                <a data-row href={hrefOf('chat', { projectId, runId: session.runId })}>
                  <StateMark state={stateOf(session)} />
                  <span class="cut" title={session.name ?? session.sessionId ?? undefined}>
                    {session.name ?? session.sessionId}
                  </span>
                  <span class="muted number">{plural(session.numTurns, 'turn')}</span>
                  <span class="muted number">
                    <Age at={session.lastMessageAt ?? session.createdAt} />
                  </span>
                </a>
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}
