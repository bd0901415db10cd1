import { CancellationScope } from '@temporalio/workflow';
import type { EndCause } from '../../core/runs/end-cause.ts';
import { sandboxName } from '../../core/sandbox/sandbox-name.ts';
import type { HostActivities, SandboxRef } from '../shared/activities.ts';
import { hostActivities, runActivities } from '../shared/activity-proxies.ts';
import type { RunInput } from '../shared/inputs.ts';
import { runTimeouts } from '../shared/run-timeouts.ts';
import { setEnded, setHost } from '../shared/search-attributes.ts';
import { awaitStopRequest } from '../shared/stop-request.ts';
import { createDetailsReporter } from '../shared/workflow-details.ts';
import { deliverOrDrop } from '../webhook/deliver-or-drop.ts';
import { runInSandbox } from './run-in-sandbox.ts';
import type { RunOutcome } from './run-outcomes.ts';
import { waitForSlot } from './wait-for-slot.ts';

/**
 * One run: wait for a slot, run in the sandbox until the first outcome, finish. All of it is in a
 * non-cancellable scope: a cancellation counts as a stop request.
 */
export async function runWorkflow(input: RunInput): Promise<{ cause: EndCause }> {
  const timeouts = { ...runTimeouts, ...input.timeouts };
  const report = createDetailsReporter();
  const activities = runActivities(input.instance, timeouts);
  const stopRequested = awaitStopRequest(timeouts.timeLimitGraceMs);
  const ref: SandboxRef = { runId: input.runId, generation: input.generation };

  return CancellationScope.nonCancellable(async () => {
    report({ phase: 'waiting for a slot', host: input.hostId });
    const slot = input.hostId
      ? { hostId: input.hostId }
      : await waitForSlot(activities, ref.runId, stopRequested);
    if ('kind' in slot) return finish(slot, null);

    if (!input.hostId) setHost(slot.hostId);
    report({ phase: 'starting the sandbox', host: slot.hostId, container: sandboxName(input) });
    const host = hostActivities(input.instance, slot.hostId, timeouts);
    const onPhase = (phase: string): void => report({ phase });
    const run = { ref, host, activities, stopRequested, timeouts, onPhase };
    return finish(await runInSandbox(run), host);
  });

  async function finish(
    outcome: RunOutcome,
    host: HostActivities | null,
  ): Promise<{ cause: EndCause }> {
    if (host !== null && outcome.kind === 'sandbox-ended') await snapshot(host, outcome);
    report({ phase: 'ending the run' });
    const { webhook, cause } = await activities.endRun({ runId: ref.runId, ...outcome.end });
    setEnded();
    report({ phase: webhook ? 'delivering the webhook' : 'cleaning up', cause });
    const removal = host !== null && outcome.kind !== 'no-host' ? host.removeSandbox(ref) : null;
    const delivery = { runId: ref.runId, firstAttempt: 1 };
    await Promise.all([
      webhook ? deliverOrDrop(activities, delivery) : null,
      removal?.catch(() => {}), // the reconciler removes what remains
    ]);
    report({ phase: 'done' });
    return { cause };
  }

  async function snapshot(host: HostActivities, { end }: RunOutcome): Promise<void> {
    if (end.cause === 'deleted_by_api') return;
    report({ phase: 'storing the workspace' });
    // A failed snapshot does not prevent the run's end.
    await host.snapshotWorkspace(ref).catch(() => {});
  }
}
