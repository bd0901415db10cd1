import type { FastifyBaseLogger } from 'fastify';
import { failpoint } from '../../core/failpoint.ts';
import { sessionChannel } from '../../core/hosts/host-rpc.ts';
import type { Run } from '../../core/runs/run.ts';
import type { StoredMessage } from '../../systems/postgres/sessions/message-store.ts';
import type { ApiDeps } from '../deps.ts';
import { sessionOver } from '../errors.ts';
import type { DecodedFile } from '../files/input-files.ts';
import { admissionError } from '../runs/admission-error.ts';
import { retryAfterEviction } from '../runs/free-project-slot.ts';
import type { WorkflowClient } from '../runs/workflow-client.ts';
import { storeMessage } from './store-message.ts';

export interface OutgoingMessage {
  text: string;
  clientMessageId: string | null;
  files: DecodedFile[];
}

interface SendRequest {
  run: Run;
  message: OutgoingMessage;
  /** Makes room for its sandbox; false where there is none to be had. */
  freeSlot: (projectId: string) => Promise<boolean>;
  log: FastifyBaseLogger;
}

type SendDeps = Pick<ApiDeps, 'messages' | 'blobs' | 'flowFiles' | 'bells' | 'metrics' | 'newId'>;

/**
 * Stores the message, then tells the session's workflow; the reconciler tells it where nobody could.
 * A message that a session which has ended can no longer take is taken back, unless it was told to
 * those who watch that its turn has failed: then it was taken.
 */
export async function sendMessage(
  deps: SendDeps,
  workflows: Pick<WorkflowClient, 'message'>,
  { run, message, freeSlot: roomFor, log }: SendRequest,
): Promise<{ messageId: string; position: number }> {
  const { runId, flowId, projectId } = run;
  const { files, ...words } = message;
  const stored = await retryAfterEviction(
    () => storeMessage(deps, { runId, messageId: deps.newId(), ...words }, { flowId, files }),
    (answer) => answer.outcome === 'rejected' && answer.reason === 'CONCURRENT_LIMIT',
    () => roomFor(projectId),
  );
  logDecision(deps.metrics, log, { run, stored });
  const { outcome, messageId, position } = acceptedOrThrow(stored);
  if (outcome === 'stored') {
    failpoint('chat.stored');
    deps.bells.notify(sessionChannel(runId));
    const told = await workflows.message(run, messageId);
    if (told === 'gone' && (await deps.messages.withdraw(runId, messageId))) {
      throw sessionOver();
    }
  }
  return { messageId, position };
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
  if (stored.outcome === 'gone') throw sessionOver();
  if (stored.outcome !== 'rejected') return stored;
  throw admissionError(stored);
}
