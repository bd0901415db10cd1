import { setTimeout as sleep } from 'node:timers/promises';
import type { Sample, Scenario, Target } from '../measure/scenario.ts';
import { median } from '../measure/statistics.ts';
import { type ApiAlone, startApiAlone } from '../support/api-alone.ts';
import { type FrameStamps, type Moment, openFramePath } from './frame-path.ts';
import { openPublishing } from './publishing.ts';

const framesASample = 40;
const everyMs = 15;

export const latency: Target = {
  id: 'T10',
  title: 'one frame from the worker to a reader, against PUBLISH to a subscriber',
  unit: 'ms',
  better: 'less',
  goal: 3,
  gate: 6,
  open,
};

async function open(): Promise<Scenario> {
  const api = await startApiAlone();
  const publishing = await openPublishing();
  return {
    ours: () => timeFrames(api),
    limit: publishing.time,
    async close() {
      publishing.close();
      await api.stop();
    },
  };
}

/** Measured from publication on, as the limit is. The time before it is reported separately. */
async function timeFrames(api: ApiAlone): Promise<Sample> {
  const path = await openFramePath(api.service);
  const stamps: FrameStamps[] = [];
  while (stamps.length < framesASample) {
    stamps.push(await path.pass());
    await sleep(everyMs);
  }
  await path.close();
  await api.forgetRuns();
  const between = (from: Moment, to: Moment): number =>
    median(stamps.map((stamp) => stamp[to] - stamp[from]));
  return {
    value: between('published', 'received'),
    also: {
      fromSpool: between('printed', 'received'),
      toCommit: between('printed', 'committing'),
      commit: between('committing', 'published'),
    },
  };
}
