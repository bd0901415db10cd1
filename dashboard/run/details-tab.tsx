import type { ComponentChildren } from 'preact';
import type { RunOfOperator } from '../../client/generated/types.ts';
import { flowNameOf } from '../runs/flow-names.ts';
import { LongText } from '../transcript/long-text.tsx';
import { CopyButton, Id } from '../ui/copy-button.tsx';
import { countText } from '../ui/format.ts';
import { Moment } from '../ui/times.tsx';
import { Deliveries } from './deliveries.tsx';
import type { RunFeed } from './run-feed.ts';

interface DetailsTabProps {
  feed: RunFeed;
  record: RunOfOperator;
}

export function DetailsTab({ feed, record }: DetailsTabProps) {
  const { projectId, flowId, usage, labels, context } = record;
  return (
    <>
      <h2>Prompt</h2>
      <LongText text={record.prompt} />
      <h2>Facts</h2>
      <dl class="details">
        <Fact title="Run">
          <Id id={record.runId} />
        </Fact>
        {record.sessionId !== null && (
          <Fact title="Session">
            <CopyButton text={record.sessionId}>{record.sessionId}</CopyButton>
          </Fact>
        )}
        <Fact title="Flow">
          {flowNameOf(projectId, flowId)}
          {record.flowVersion !== null && ` (version ${record.flowVersion})`} <Id id={flowId} />
        </Fact>
        <Fact title="Created">
          <Moment at={record.createdAt} />
        </Fact>
        <Fact title="Started">
          <Moment at={record.startedAt} />
        </Fact>
        <Fact title="Ended">
          <Moment at={record.finishedAt} />
        </Fact>
        <Fact title="Exit code">{record.exitCode ?? '–'}</Fact>
        <Fact title="Host">{record.hostId ?? '–'}</Fact>
        <Fact title="Model">{feed.transcript.value.model ?? '–'}</Fact>
        <Fact title="Tokens">
          {countText(usage.inputTokens)} in, {countText(usage.outputTokens)} out,{' '}
          {countText(usage.cacheReadInputTokens)} read from the cache,{' '}
          {countText(usage.cacheCreationInputTokens)} written to it
        </Fact>
        <Fact title="MCP servers">{record.mcpServerNames.join(', ') || '–'}</Fact>
        <Pairs title="Labels" pairs={labels} />
        <Pairs title="Context" pairs={context} />
        <Fact title="Workflow">
          <CopyButton text={record.workflowId}>{record.workflowId}</CopyButton>
        </Fact>
      </dl>
      <Deliveries feed={feed} record={record} />
    </>
  );
}

function Fact({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Pairs({ title, pairs }: { title: string; pairs: Record<string, string> }) {
  const names = Object.keys(pairs);
  if (names.length === 0) return null;
  return (
    <Fact title={title}>
      {names.map((name) => (
        <span key={name} class="chip">
          {name}:{pairs[name]}
        </span>
      ))}
    </Fact>
  );
}
