import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { failpoint } from '../../core/failpoint.ts';
import { sessionChannel } from '../../core/hosts/host-rpc.ts';
import type { Run } from '../../core/runs/run.ts';
import type { NewMessage, StoredMessage } from '../../systems/postgres/sessions/store-message.ts';
import type { ApiDeps } from '../deps.ts';
import { sessionEnded } from '../errors.ts';
import {
  type FileTarget,
  retryWhileIgnoreChanges,
  storeContents,
} from '../files/classify-files.ts';
import type { DecodedFile } from '../files/input-files.ts';
import { authorOf } from '../operators/audit/record-change.ts';
import { admissionError } from '../runs/admission-error.ts';
import { createEvictAtLimit } from '../runs/evict-at-limit.ts';
import type { WorkflowClient } from '../runs/workflow-client.ts';

interface OutgoingMessage {
  text: string;
  clientMessageId: string | null;
  files: DecodedFile[];
  mayChangeFlow: boolean;
  /** The name of the key. */
  changedBy: string;
}

interface SendRequest {
  run: Run;
  message: OutgoingMessage;
  request: FastifyRequest;
  reply: FastifyReply;
  closing: AbortSignal;
}

type SendDeps = Pick<
  ApiDeps,
  | 'acceptedIds'
  | 'admission'
  | 'blobs'
  | 'flowFiles'
  | 'messages'
  | 'metrics'
  | 'newId'
  | 'notifications'
  | 'postgresDisk'
  | 'runs'
>;

/**
 * Stores the message. The session's workflow is signalled while the client is answered. If the
 * session has ended meanwhile, the message fails with it.
 */
export async function sendMessage(
  deps: SendDeps,
  workflows: Pick<WorkflowClient, 'message' | 'sleep' | 'wake'>,
  { run, message, request, reply, closing }: SendRequest,
): Promise<{ messageId: string; position: number }> {
  const { runId, flowId, projectId } = run;
  const { files, mayChangeFlow, changedBy, ...content } = message;
  const stated = { isPostgresDiskShort: deps.postgresDisk.isShort(), author: authorOf(request) };
  const store = () =>
    storeMessage(
      deps,
      { runId, messageId: deps.newId(), ...stated, ...content },
      { flowId, projectId, files, mayChangeFlow, changedBy },
    );
  const evictAtLimit = createEvictAtLimit(deps, { projectId, workflows, reply, closing });
  let stored = await store();
  while (await evictAtLimit(stored)) stored = await store();
  logDecision(deps.metrics, request.log, { run, stored });
  const accepted = acceptedOrThrow(stored);
  const { messageId, position } = accepted;
  if (accepted.outcome === 'stored') {
    failpoint('chat.stored');
    deps.acceptedIds.add(messageId);
    deps.notifications.notify(sessionChannel(runId));
    if (accepted.isAsleep) workflows.wake(run);
    workflows.message(run, messageId);
  }
  return { messageId, position };
}

type StoreDeps = Pick<ApiDeps, 'messages' | 'blobs' | 'flowFiles'>;

/** Stores a message with its files, or nothing if it is rejected or already known. */
async function storeMessage(
  { messages, ...deps }: StoreDeps,
  message: NewMessage,
  { projectId, ...request }: FileTarget & { projectId: string },
): Promise<StoredMessage> {
  const { flowId, files } = request;
  if (files.length === 0) return messages.store(message);
  const dryRun = await retryWhileIgnoreChanges(deps, request, (inputFiles) =>
    messages.dryRunWithFiles(message, { flowId, input: inputFiles }),
  );
  if (dryRun.outcome !== 'stored') return dryRun;
  await storeContents(deps, projectId, files);
  return retryWhileIgnoreChanges(deps, request, (inputFiles) =>
    messages.storeWithFiles(message, { flowId, input: inputFiles }),
  );
}

function logDecision(
  metrics: SendDeps['metrics'],
  log: FastifyBaseLogger,
  { run, stored }: { run: Run; stored: StoredMessage },
): void {
  const { runId, sessionId } = run;
  if (stored.outcome === 'gone') return;
  if (stored.outcome === 'rejected') {
    const { reason: code, limit, current } = stored;
    metrics.messageDecided(code);
    log.info({ runId, sessionId, code, limit, current }, 'message_rejected');
    return;
  }
  const { outcome, messageId, position } = stored;
  metrics.messageDecided(outcome);
  const event = outcome === 'stored' ? 'message_stored' : 'message_replayed';
  log.info({ runId, sessionId, messageId, position }, event);
}

type AcceptedMessage = Extract<StoredMessage, { messageId: string }>;

function acceptedOrThrow(stored: StoredMessage): AcceptedMessage {
  if (stored.outcome === 'gone') throw sessionEnded();
  if (stored.outcome !== 'rejected') return stored;
  throw admissionError(stored);
}
