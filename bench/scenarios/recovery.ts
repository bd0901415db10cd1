import { machineMs } from '../../test/fixtures/scripted-agent/machine-clock.ts';
import { startLimits } from '../limits/limits.ts';
import type { OpenScenario, Scenario } from '../measure/scenario.ts';
import { startBenchService, untilNoSandbox } from '../service/bench-service.ts';
import { isEvent, openStream } from '../service/stream.ts';

/** Says every 20 ms what time it is. */
const prompt = '@agent [{"repeat":100000,"steps":[{"clock":true},{"sleepMs":20}]}]';

export const recovery: Scenario = {
  id: 'T21',
  targets: [
    {
      id: 'T21',
      title: "a worker's kill and restart to the next text, against starting a bare program",
      unit: 'ms',
      better: 'less',
      goal: 10,
    },
  ],
  iterations: 8,
  warmUps: 1,
  runcOnly: 'gVisor has its own monotonic clock',
  open,
};

async function open(): Promise<OpenScenario> {
  const service = await startBenchService();
  return {
    async ours() {
      const { runId } = await service.trigger({ prompt });
      const stream = await openStream(service, runId);
      await stream.until(isClock);
      const killedAt = machineMs();
      await service.worker.kill('SIGKILL');
      const restarted = service.worker.start();
      const { at } = await stream.until((event) => isClock(event) && saidAt(event) > killedAt);
      stream.close();
      await restarted;
      await service.call('DELETE', `/runs/${runId}`);
      await untilNoSandbox(service);
      return { values: { T21: at - killedAt } };
    },
    /** Node, a web framework, clients of Postgres and Redis, a commit and PUBLISH. */
    async limit() {
      const startedAt = machineMs();
      const limits = await startLimits(service, { publishesAtStart: true });
      const value = limits.firstPublishedAt - startedAt;
      await limits.close();
      return { values: { T21: value } };
    },
    close: () => service.stop(),
  };
}

const isClock = (event: string): boolean => isEvent(event, 'assistant') && event.includes('saidAt');

const saidAt = (event: string): number => Number(/saidAt\\*":([\d.]+)/.exec(event)?.[1] ?? 0);
