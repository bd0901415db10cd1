import { packingLimits } from '../../core/frames/packing-limits.ts';
import { limits } from '../../core/limits.ts';
import { count, time } from './units.ts';

const { everyMs, describedPerPass } = limits.reconciler;
const exampleRuns = count(limits.project.openSessionsDefault);
const leaseMs = (intervalMs: number): number => intervalMs + limits.reconciler.leaseMs;

/** The jobs that one worker at a time does for all hosts, in Markdown. */
export const reconcilerJobs = `## Reconciler

Each of these jobs is done by one worker at a time. If that worker dies, another one takes over at
its next interval, once the lease of the job has ended: ${time(leaseMs(everyMs))} after its last renewal, or at most
${time(leaseMs(limits.reconciler.jobPollMs))} for a job that is due less often.

| job | interval over all workers |
|---|---|
| finding workflows that closed in Temporal without an end of their runs | \`RECONCILE_EVERY_MS\` (${time(everyMs)}); one request unless many were closed, also with ${exampleRuns} open sessions |
| describing the workflows of active runs | ${describedPerPass} runs in each interval, so ${exampleRuns} runs take more than ${Math.floor((limits.project.openSessionsDefault / describedPerPass) * (everyMs / 60_000))} min |
| starting, stopping and moving runs; messages; pending webhooks; lost hosts | \`RECONCILE_EVERY_MS\`; each pass continues after the last one, so repairs that fail do not delay the others |
| assigning free slots, or those of idle sessions, to waiting runs | ${time(limits.host.renewMs)} while runs wait, besides every end of a run |
| syncing all schedules to Temporal | ${time(limits.reconciler.schedulesEveryMs)}; changed ones \`RECONCILE_EVERY_MS\` |
| removing overdue rows | ${time(limits.retention.everyMs)}; ${time(limits.reconciler.jobPollMs)} if runs were locked |
| removing unreferenced blobs | ${time(limits.blob.gcEveryMs)} |
| packing the logs of runs that ended ${time(packingLimits.afterMs)} ago | ${time(packingLimits.everyMs)} |
| adding up the stored bytes of projects | ${time(limits.retention.foldEveryMs)} |
`;
