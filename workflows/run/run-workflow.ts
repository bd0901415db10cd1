import { CancellationScope } from '@temporalio/workflow';
import type { EndCause, RunEnd } from '../../core/runs/end-cause.ts';
import { sandboxName } from '../../core/sandbox/sandbox-name.ts';
import type { HostActivities, HostSlot, RunActivities, SandboxRef } from '../shared/activities.ts';
import { hostActivities, runActivities } from '../shared/activity-proxies.ts';
import { closeWorkflow, recordedEnd } from '../shared/close-workflow.ts';
import type { RunInput } from '../shared/inputs.ts';
import { type RunTimeouts, runTimeouts } from '../shared/run-timeouts.ts';
import { setEnded, setHost } from '../shared/search-attributes.ts';
import { awaitStopRequest, type StopRequest } from '../shared/stop-request.ts';
import { listenForSlots, type SlotSignals, waitForSlot } from '../shared/wait-for-slot.ts';
import { createDetailsReporter, type ReportDetails } from '../shared/workflow-details.ts';
import { deliverAtEnd } from '../webhook/deliver-or-drop.ts';
import { type HostLoss, listenForHostLoss } from './host-loss.ts';
import { runInSandbox } from './run-in-sandbox.ts';
import { type FinalOutcome, noCapacity, stoppedBeforeStart } from './run-outcomes.ts';

/** Shared by all steps of a run's workflow. */
interface RunContext {
  runId: string;
  instance: string;
  timeouts: RunTimeouts;
  report: ReportDetails;
  activities: RunActivities;
  stopRequested: Promise<StopRequest>;
  hostLoss: HostLoss;
  slotSignals: SlotSignals;
}

/** The sandbox of a slot. */
interface HostedSandbox {
  ref: SandboxRef;
  host: HostActivities;
}

/**
 * One run: wait for a slot, run in the sandbox until the first outcome, finish. A run whose host
 * did not start its sandbox claims a slot on another host. All of it is in a non-cancellable scope:
 * a cancellation counts as a stop request. Then the workflow closes with the status of the run's
 * end.
 */
export async function runWorkflow(input: RunInput): Promise<{ cause: EndCause }> {
  const timeouts = { ...runTimeouts, ...input.timeouts };
  const context: RunContext = {
    runId: input.runId,
    instance: input.instance,
    timeouts,
    report: createDetailsReporter(),
    activities: runActivities(input.instance, timeouts),
    stopRequested: awaitStopRequest(timeouts.timeLimitGraceMs),
    hostLoss: listenForHostLoss(),
    slotSignals: listenForSlots(),
  };
  const end = await CancellationScope.nonCancellable(async () => {
    context.report({ phase: 'waiting for a slot', host: input.hostId });
    let slot = admittedSlot(input) ?? (await claimSlot(context, input.generation - 1));
    for (;;) {
      if ('kind' in slot) return finish(context, slot, null);
      const sandbox = sandboxOn(context, slot);
      const outcome = await runInSandbox({ ...context, ...sandbox });
      if (outcome.kind !== 'not-started') return finish(context, outcome, sandbox);
      context.hostLoss.throughGeneration = 0;
      const next = await claimSlot(context, slot.generation);
      const stays = !('kind' in next) && next.generation === slot.generation;
      slot = stays && outcome.end !== null ? { kind: 'no-host', end: outcome.end } : next;
    }
  });
  return closeWorkflow(end, context);
}

/** The slot that admission claimed; null if every host was full. */
const admittedSlot = ({ hostId, generation }: RunInput): HostSlot | FinalOutcome | null =>
  hostId === null ? null : { hostId, generation };

/** A stop request ends the wait at once, also during a claim. */
async function claimSlot(
  { runId, activities, stopRequested, slotSignals, timeouts }: RunContext,
  after: number,
): Promise<HostSlot | FinalOutcome> {
  const waiting = new CancellationScope();
  const slot = waiting.run(() =>
    waitForSlot(() => activities.claimSlot({ runId, after }), {
      signals: slotSignals,
      noCapacityMs: timeouts.noCapacityMs,
      isStopped: () => waiting.consideredCancelled,
    }),
  );
  const assigned = slot.then((found) => found ?? noCapacity).catch(() => noCapacity);
  const first = await Promise.race([assigned, stopRequested.then(stoppedBeforeStart)]);
  waiting.cancel();
  if (!('kind' in first)) setHost(first.hostId);
  return first;
}

function sandboxOn(
  { runId, instance, timeouts, report }: RunContext,
  { hostId, generation }: HostSlot,
): HostedSandbox {
  const container = sandboxName({ runId, instance, generation });
  report({ phase: 'starting the sandbox', host: hostId, container });
  return { ref: { runId, generation }, host: hostActivities(instance, hostId, timeouts) };
}

async function finish(
  context: RunContext,
  outcome: FinalOutcome,
  sandbox: HostedSandbox | null,
): Promise<RunEnd> {
  const { runId, activities, report } = context;
  const hasFiles = sandbox !== null && outcome.kind === 'sandbox-ended';
  const filesStored = hasFiles && (await snapshot(context, sandbox, outcome.end));
  report({ phase: 'ending the run' });
  const ended = await activities.endRun({ runId, ...outcome.end, filesStored });
  const { webhook, hasWebhookBacklog, cause, hasUnstoredFiles: keepFolders } = ended;
  setEnded(cause);
  report({ phase: webhook ? 'delivering the webhook' : 'cleaning up', cause });
  const isRemovable = sandbox !== null && outcome.kind !== 'no-host';
  const removal = isRemovable ? sandbox.host.removeSandbox({ ...sandbox.ref, keepFolders }) : null;
  await Promise.all([
    webhook ? deliverAtEnd(context, hasWebhookBacklog) : null,
    removal?.catch(() => {}), // the reconciler removes what remains
  ]);
  report({ phase: 'done' });
  return recordedEnd(outcome.end, cause);
}

/** False if it failed. That does not prevent the run's end: the host retries. */
async function snapshot(
  { report }: RunContext,
  { host, ref }: HostedSandbox,
  end: RunEnd,
): Promise<boolean> {
  if (end.cause === 'deleted_by_api') return false;
  report({ phase: 'storing the workspace' });
  return host.snapshotWorkspace(ref).then(
    () => true,
    () => false,
  );
}
