import { Client, type Connection } from '@temporalio/client';
import { expect } from 'vitest';
import { untilAsleep, untilRemoved } from './run-states.ts';
import type { Service } from './service.ts';

/**
 * Puts an idle session to sleep. Resolves when its container is removed and its workflow has made
 * its last claim: before that, the workflow finds a message without its signal.
 */
export async function putToSleep(
  service: Pick<Service, 'readRun' | 'sandboxes'>,
  connection: Connection,
  chat: { runId: string },
): Promise<void> {
  const workflow = new Client({ connection }).workflow.getHandle(`session/${chat.runId}`);
  await workflow.signal('sleep');
  await untilAsleep(service, chat);
  await untilRemoved(service, chat);
  const pending = async () => (await workflow.describe()).raw.pendingActivities ?? [];
  await expect.poll(pending, { timeout: 30_000 }).toEqual([]);
}
