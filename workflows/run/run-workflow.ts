import { CancellationScope } from '@temporalio/workflow';
import type { EndCause } from '../../core/runs/end-cause.ts';
import { sandboxName } from '../../core/sandbox/sandbox-name.ts';
import type { HostActivities, SandboxRef } from '../shared/activities.ts';
import { hostActivities, runActivities } from '../shared/activity-proxies.ts';
import { runTimeouts } from '../shared/run-timeouts.ts';
import { setEnded, setHost } from '../shared/search-attributes.ts';
import type { RunInput } from '../shared/signals.ts';
import { awaitStopRequest } from '../shared/stop-request.ts';
import { createDetailsReporter } from '../shared/workflow-details.ts';
import { deliverWebhook } from '../webhook/deliver-webhook.ts';
import { runInSandbox } from './run-in-sandbox.ts';
import type { RunOutcome } from './run-outcomes.ts';
import { waitForSlot } from './wait-for-slot.ts';

/**
 * One run: take a place, run in the sandbox until one of its endings wins, finish. The whole of it
 * stands in a scope that cannot be cancelled: a cancellation is one more order to stop.
 */
export async function runWorkflow(input: RunInput): Promise<{ cause: EndCause }> {
  const times = { ...runTimeouts, ...input.timeouts };
  const tell = createDetailsReporter();
  const work = runActivities(input.instance, times);
  const orders = awaitStopRequest(times.timeLimitGraceMs);
  const ref: SandboxRef = { runId: input.runId, generation: input.generation };

  return CancellationScope.nonCancellable(async () => {
    tell({ phase: 'taking a place', host: input.hostId });
    const place = input.hostId
      ? { hostId: input.hostId }
      : await waitForSlot(work, ref.runId, orders);
    if ('kind' in place) return finish(place, null);

    if (!input.hostId) setHost(place.hostId);
    tell({ phase: 'starting the sandbox', host: place.hostId, container: sandboxName(input) });
    const host = hostActivities(input.instance, place.hostId, times);
    const onPhase = (phase: string): void => tell({ phase });
    return finish(
      await runInSandbox({
        ref,
        host,
        activities: work,
        stopRequested: orders,
        timeouts: times,
        onPhase,
      }),
      host,
    );
  });

  async function finish(
    ending: RunOutcome,
    host: HostActivities | null,
  ): Promise<{ cause: EndCause }> {
    if (host !== null && ending.kind === 'sandbox-ended') await collect(host, ending);
    tell({ phase: 'ending the run' });
    const { webhook, cause } = await work.endRun({ runId: ref.runId, ...ending.end });
    setEnded();
    tell({ phase: webhook ? 'delivering the webhook' : 'cleaning up', cause });
    const removal = host !== null && ending.kind !== 'no-host' ? host.removeSandbox(ref) : null;
    // The reconciler removes what a host could not.
    const first = { runId: ref.runId, firstAttempt: 1 };
    await Promise.all([webhook ? deliverWebhook(work, first) : null, removal?.catch(() => {})]);
    tell({ phase: 'over' });
    return { cause };
  }

  async function collect(host: HostActivities, ending: RunOutcome): Promise<void> {
    if (ending.end.cause === 'deleted_by_api') return;
    tell({ phase: 'collecting the workspace' });
    // A workspace that cannot be stored never keeps a run from its end.
    await host.snapshotWorkspace(ref).catch(() => {});
  }
}
