// Waits for states of runs and sessions, as a client sees them.

import { expect } from 'vitest';
import type { Conversation } from './conversation.ts';
import type { Service } from './service.ts';

const pollOptions = { timeout: 90_000 };

/** Waits until the agent works. */
export async function untilWorking(
  service: Pick<Service, 'readRun'>,
  { runId }: { runId: string },
): Promise<void> {
  const agentStatus = async () => (await service.readRun(runId)).agentStatus;
  await expect.poll(agentStatus, pollOptions).toBe('working');
}

/** Ends a session and reads its stream to the end. */
export async function endSession(
  service: Pick<Service, 'call' | 'flowId'>,
  { sessionId, closed }: Pick<Conversation, 'sessionId' | 'closed'>,
): Promise<void> {
  await service.call('DELETE', `/flows/${service.flowId}/sessions/${sessionId}`);
  await closed;
}

export async function untilAsleep(
  service: Pick<Service, 'readRun'>,
  { runId }: { runId: string },
): Promise<void> {
  const status = async () => (await service.readRun(runId)).status;
  await expect.poll(status, pollOptions).toBe('sleep');
}

/** Waits until the container is removed. */
export async function untilRemoved(
  { sandboxes }: Pick<Service, 'sandboxes'>,
  { runId }: { runId: string },
): Promise<void> {
  const withContainer = async () => (await sandboxes.list()).map((sandbox) => sandbox.runId);
  await expect.poll(withContainer, pollOptions).not.toContain(runId);
}
