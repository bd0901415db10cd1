// The worker of the empty turns, in a process of its own as the service's is, with two queues as there:
// one for workflows, one for what the sandbox's host does.

import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { endWithParent, readSetting, reportToParent } from '../support/child.ts';
import { machineMs } from './machine-clock.ts';

export interface EmptySetting {
  temporalAddress: string;
  codePath: string;
  workflowQueue: string;
  activityQueue: string;
}

/** The first says that it is ready, each after it when the body of an activity ran. */
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
      tellNow();
    },
  },
});
const running = Promise.all([workflows.run(), activities.run()]);
tellNow();
await running;
await connection.close();
process.exit();

function tellNow(): void {
  const answer: EmptyAnswer = { atMs: machineMs() };
  reportToParent(answer);
}
