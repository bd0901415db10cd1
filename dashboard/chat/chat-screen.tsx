import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { RunOfOperator } from '../../client/generated/types.ts';
import { answerOf } from '../run/answer-of.ts';
import { openRunFeed, type RunFeed } from '../run/run-feed.ts';
import { loadFlows } from '../runs/flow-names.ts';
import { titleOf } from '../runs/run-title.ts';
import { hrefOf } from '../shell/location.ts';
import { projectHttp } from '../shell/service.ts';
import { AnswerContext } from '../transcript/answer-context.ts';
import { Conversation } from '../transcript/conversation.tsx';
import { FailureNote } from '../ui/failure-note.tsx';
import { dollarText } from '../ui/format.ts';
import { stateOf } from '../ui/run-state.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { StateMark } from '../ui/state-mark.tsx';
import { useTitle } from '../ui/use-title.ts';
import { Composer } from './composer.tsx';

interface ChatScreenProps {
  projectId: string;
  runId: string;
}

/** A session: its conversation, and a field for the next message. */
export function ChatScreen({ projectId, runId }: ChatScreenProps) {
  const feed = useSignal<RunFeed | null>(null);
  useEffect(() => {
    void loadFlows(projectId);
    const opened = openRunFeed(projectHttp(projectId), runId);
    feed.value = opened;
    return () => opened.stop();
  }, [projectId, runId]);
  const record = feed.value?.record.value ?? null;
  if (feed.value === null || record === null) {
    const failure = feed.value?.failure.value ?? null;
    if (failure === null) return <Skeleton what="the chat" />;
    return (
      <>
        <FailureNote failure={failure} onRetry={feed.value?.retry} />
        <p>
          <a href={hrefOf('chats', { projectId })}>All chats of the project</a>
        </p>
      </>
    );
  }
  return <OpenedChat feed={feed.value} record={record} />;
}

function OpenedChat({ feed, record }: { feed: RunFeed; record: RunOfOperator }) {
  const { projectId, runId, costUsd, finishedAt, sessionId } = record;
  const transcript = feed.transcript.value;
  const { agentStatus, status } = transcript;
  useTitle(titleOf(record));
  const live = finishedAt === null && status !== null ? { ...record, status, agentStatus } : record;
  return (
    <div class="run chat">
      <header class="run-header">
        <nav class="small" aria-label="Path">
          <a href={hrefOf('chats', { projectId })}>Chat</a>
        </nav>
        <h1 class="cut" title={titleOf(record)}>
          {titleOf(record)}
        </h1>
        <div class="facts">
          <StateMark state={stateOf(live)} />
          <span class="number">{costUsd === null ? 'no cost yet' : dollarText(costUsd)}</span>
          <a href={hrefOf('run', { projectId, runId })}>Files, output and details</a>
        </div>
      </header>
      {feed.failure.value !== null && (
        <FailureNote failure={feed.failure.value} onRetry={feed.retry} />
      )}
      <AnswerContext.Provider value={answerOf(feed)}>
        <Conversation
          transcript={transcript}
          hasEarlier={feed.hasEarlier.value}
          onEarlier={feed.loadEarlier}
        />
      </AnswerContext.Provider>
      {finishedAt === null && sessionId !== null ? (
        <Composer feed={feed} isWorking={stateOf(live) === 'working'} />
      ) : (
        <p class="note">This chat has ended. Its conversation and its files are kept.</p>
      )}
    </div>
  );
}
