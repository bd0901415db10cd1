// The worker for empty-turns.ts. Like the service's worker, it is a separate process with two task
// queues: one for workflows, one for the activities of a host.

import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { endWithParent, readSetting, reportToParent } from '../support/child.ts';
import { machineMs } from './machine-clock.ts';

export interface EmptySetting {
  temporalAddress: string;
  codePath: string;
  workflowQueue: string;
  activityQueue: string;
}

/** The first answer reports that the worker is ready; each later one, that an activity body ran. */
export interface EmptyAnswer {
  atMs: number;
}

endWithParent();
const setting = readSetting() as EmptySetting; // empty-turns.ts starts this program
Runtime.install({ logger: new DefaultLogger('ERROR') });
const connection = await NativeConnection.connect({ address: setting.temporalAddress });
const workflows = await Worker.create({
  connection,
  taskQueue: setting.workflowQueue,
  workflowBundle: { codePath: setting.codePath },
});
const activities = await Worker.create({
  connection,
  taskQueue: setting.activityQueue,
  activities: {
    async doNothing(): Promise<void> {
      reportNow();
    },
  },
});
const running = Promise.all([workflows.run(), activities.run()]);
reportNow();
await running;
await connection.close();
process.exit();

function reportNow(): void {
  const answer: EmptyAnswer = { atMs: machineMs() };
  reportToParent(answer);
}
