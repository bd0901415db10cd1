// Everything that a request, a turn or a run asks of Postgres.

import { randomUUID } from 'node:crypto';
import { createFlowStore } from '../../../../../systems/postgres/accounts/flow-store.ts';
import { createKeyStore } from '../../../../../systems/postgres/accounts/key-store.ts';
import { createKeyUsageStore } from '../../../../../systems/postgres/accounts/key-usage-store.ts';
import { createProjectStore } from '../../../../../systems/postgres/accounts/project-store.ts';
import { createAdmission } from '../../../../../systems/postgres/admission/admission.ts';
import type { Pool } from '../../../../../systems/postgres/client/pool.ts';
import { createFileStore } from '../../../../../systems/postgres/files/file-store.ts';
import { createFlowFileStore } from '../../../../../systems/postgres/files/flow-file-store.ts';
import { createFrameStore } from '../../../../../systems/postgres/log/frame-store.ts';
import { createInteractionStore } from '../../../../../systems/postgres/runs/interaction-store.ts';
import { createLedgerStore } from '../../../../../systems/postgres/runs/ledger-store.ts';
import { createRunStore } from '../../../../../systems/postgres/runs/run-store.ts';
import { createMessageStore } from '../../../../../systems/postgres/sessions/message-store.ts';
import { createSessionStore } from '../../../../../systems/postgres/sessions/session-store.ts';
import { createTurnStore } from '../../../../../systems/postgres/sessions/turn-store.ts';
import { testSealer } from '../../../../support/database.ts';
import { ledgerEntry } from '../ledger-entry.ts';
import { chat } from '../use-frame-log.ts';
import type { Call } from './count-blocks.ts';
import { newMessage, type Subjects } from './subjects.ts';

const completed = { cause: 'completed', detail: null, exitCode: 0 } as const;
const emptyTree = { files: [], links: [], folders: [], changed: [] };
const runsOf = (pool: Pool) => createRunStore(pool, testSealer);
const sessionsOf = (pool: Pool) => createSessionStore(pool, testSealer);

export const hotPaths = (of: Subjects): Record<string, Call> => ({
  ...accountCalls(of),
  ...logCalls(of),
  ...runCalls(of),
  ...sessionCalls(of),
});

function accountCalls({ scenario, key, running }: Subjects): Record<string, Call> {
  const { projectId, flow } = scenario;
  const file = { path: 'a', sha256: '00'.repeat(32), size: 1, mode: 420, scope: 'run' as const };
  return {
    'find a key': (pool) => createKeyStore(pool).findByKey(key),
    'find a flow': (pool) => createFlowStore(pool, testSealer).find(flow.flowId),
    'find a project': (pool) => createProjectStore(pool, testSealer).find(projectId),
    'show the use of the limits': (pool) => createKeyUsageStore(pool).bounds(projectId),
    'check the storage quota': (pool) =>
      createProjectStore(pool, testSealer).usedUpQuota({ projectId }),
    'check files of a request': (pool) =>
      createFlowFileStore(pool).check(flow.flowId, { files: [file], classifiedBy: null }),
    'list files': (pool) => createFileStore(pool).list(running.runId, { limit: 100 }),
  };
}

function runCalls({ scenario, running, admitted, ended, lease }: Subjects): Record<string, Call> {
  const { runId } = running;
  const { projectId } = scenario;
  const admission = (pool: Pool) => createAdmission(pool, testSealer);
  return {
    'admit a run': (pool) =>
      admission(pool).admitRun(scenario.request({ idempotencyKey: randomUUID() })),
    'claim a slot': (pool) => admission(pool).claimSlot(admitted.runId, 0),
    'find an idle session at the limit': (pool) =>
      admission(pool).findEvictableInProject(projectId),
    'record the start of a workflow': (pool) => runsOf(pool).markWorkflowStarted(admitted.runId),
    'record the start of a sandbox': (pool) => runsOf(pool).markStarted(admitted.runId, 1, 'idle'),
    'read what a sandbox needs': (pool) => runsOf(pool).sandboxPlan(admitted.runId),
    'find a run': (pool) => runsOf(pool).find(runId),
    'record a cause': (pool) =>
      runsOf(pool).recordCause({ runId, cause: 'timed_out', detail: null }),
    'end a run': (pool) => runsOf(pool).endRun({ runId, ...completed }),
    'delete a run': (pool) => runsOf(pool).markDeleted(ended.runId),
    'record model calls': (pool) => createLedgerStore(pool).record(runId, [ledgerEntry()]),
    'store a snapshot': (pool) => createFileStore(pool).replaceSnapshot(lease, emptyTree),
    'ask a question': (pool) =>
      createInteractionStore(pool).record(runId, [
        { kind: 'asked', interaction: { interactionId: 'q', toolName: 'Ask', input: '{}' } },
      ]),
    'list the open questions': (pool) => createInteractionStore(pool).open(runId),
  };
}

function logCalls({ running, lease }: Subjects): Record<string, Call> {
  const { runId } = running;
  const frames = Array.from({ length: 8 }, (_, n) => chat(n));
  const log = (pool: Pool) => createFrameStore(pool);
  return {
    'read the first frames': (pool) => log(pool).read(runId, { limit: 500, order: 'asc' }),
    'read the last frames of a channel': (pool) =>
      log(pool).read(runId, { limit: 500, order: 'desc', channel: 'chat' }),
    'read the end of the output': (pool) =>
      log(pool).renderedTail(runId, { maxBytes: 1_000, uptoSeq: 20 }),
    'read the progress of a run': (pool) => log(pool).progress(runId),
    'take a lease': (pool) => log(pool).takeLease(runId, 'h-1', 60_000),
    'renew a lease': (pool) => log(pool).renewLease(runId, lease.token, 60_000),
    'append eight frames': (pool) =>
      log(pool).append({
        ...{ ...lease, fromOffset: 100, toOffset: 200, frames },
        facts: { agentStatus: 'working' },
      }),
    'append own frames': (pool) => log(pool).appendOwn({ runId, frames }),
  };
}

function sessionCalls(of: Subjects): Record<string, Call> {
  const { scenario, awake, awakeLease, messageId, asleep } = of;
  const { runId, sessionId } = awake;
  const { flowId } = scenario.flow;
  const opening = { sessionId: 'new', hasClientId: true, mcpServerNames: [] };
  const turns = (pool: Pool) => createTurnStore(pool);
  const chatOf = (pool: Pool) => createMessageStore(pool);
  return {
    'open a session': (pool) => sessionsOf(pool).open({ ...scenario.request(), ...opening }),
    'find a session': (pool) => sessionsOf(pool).find(flowId, sessionId ?? ''),
    'store a message': (pool) => chatOf(pool).store(newMessage(runId)),
    'wake a session': (pool) => chatOf(pool).store(newMessage(asleep.runId)),
    'record a signal': (pool) => chatOf(pool).markSignalled(messageId),
    'find the message in progress': (pool) => chatOf(pool).currentMessage(runId),
    'claim the slot of a session': (pool) => turns(pool).claimSlot(runId, 1),
    'record the start of a session': (pool) => turns(pool).markStarted(awakeLease),
    'claim a turn': (pool) => turns(pool).claim(awakeLease),
    'end a turn': (pool) =>
      createFrameStore(pool).append(
        {
          ...{ ...awakeLease, fromOffset: 0, toOffset: 9, frames: [chat(1)] },
          facts: {
            agentStatus: 'idle',
            turn: { result: 'r', structuredOutput: null, numTurns: 1 },
          },
        },
        { turnEnd: { messageId, exitCode: 0, reply: 'r' } },
      ),
    'look for the next message': (pool) => turns(pool).findNext(runId),
    'read how long a session is idle': (pool) => turns(pool).idleState(runId),
    'begin a save': (pool) => turns(pool).beginSave(runId),
    'save a session': (pool) =>
      turns(pool).saveState(awakeLease, {
        ...{ at: new Date(), workspace: emptyTree, transcript: null },
      }),
    'release a sandbox': (pool) => turns(pool).releaseSandbox(runId, 1),
    'end a session': (pool) => runsOf(pool).endRun({ runId, ...completed }),
  };
}
