import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { loadFlows } from '../runs/flow-names.ts';
import { hrefOf, page, query } from '../shell/location.ts';
import { projectHttp } from '../shell/service.ts';
import { AnswerContext } from '../transcript/answer-context.ts';
import { Conversation } from '../transcript/conversation.tsx';
import { FailureNote } from '../ui/failure-note.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { answerOf } from './answer-of.ts';
import { openRunFeed, type RunFeed } from './run-feed.ts';
import { RunHeader } from './run-header.tsx';
import { RunTabs } from './run-tabs.tsx';

interface RunScreenProps {
  projectId: string;
  runId: string;
}

/** A run while it happens, and afterwards: its conversation, its files and its facts. */
export function RunScreen({ projectId, runId }: RunScreenProps) {
  const feed = useSignal<RunFeed | null>(null);
  useEffect(() => {
    void loadFlows(projectId);
    const opened = openRunFeed(projectHttp(projectId), runId);
    feed.value = opened;
    return () => opened.stop();
  }, [projectId, runId]);
  return feed.value === null ? <Skeleton what="the run" /> : <OpenedRun feed={feed.value} />;
}

function OpenedRun({ feed }: { feed: RunFeed }) {
  const record = feed.record.value;
  const failure = feed.failure.value;
  if (record === null) {
    return failure === null ? (
      <Skeleton what="the run" />
    ) : (
      <>
        <FailureNote failure={failure} onRetry={feed.retry} />
        <p>
          <a href={hrefOf('runs', page.value?.params)}>All runs of the project</a>
        </p>
      </>
    );
  }
  return (
    <div class="run">
      <RunHeader feed={feed} record={record} />
      {failure !== null && <FailureNote failure={failure} onRetry={feed.retry} />}
      <div class="panes" data-tab={query.value.get('tab') ?? 'conversation'}>
        <AnswerContext.Provider value={answerOf(feed)}>
          <Conversation
            transcript={feed.transcript.value}
            hasEarlier={feed.hasEarlier.value}
            onEarlier={feed.loadEarlier}
          />
        </AnswerContext.Provider>
        <RunTabs feed={feed} record={record} />
      </div>
    </div>
  );
}
