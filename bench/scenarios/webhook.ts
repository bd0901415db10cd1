import { machineMs } from '../../test/fixtures/scripted-agent/machine-clock.ts';
import { startReceiver } from '../../test/support/webhook-receiver.ts';
import { startLimits } from '../limits/limits.ts';
import type { OpenScenario, Scenario } from '../measure/scenario.ts';
import { type BenchService, startBenchService, untilNoSandbox } from '../service/bench-service.ts';

const prompt = '@agent [{"say":"Hello."},{"clockExit":true}]';

export const webhook: Scenario = {
  id: 'T20',
  targets: [
    {
      id: 'T20',
      title: "an agent's exit to the webhook received, against one commit and an HTTPS POST",
      unit: 'ms',
      better: 'less',
      goal: 10,
    },
  ],
  iterations: 12,
  warmUps: 2,
  runcOnly: 'gVisor has its own monotonic clock',
  open,
};

async function open(): Promise<OpenScenario> {
  const service = await startBenchService();
  const limits = await startLimits(service);
  const arrivals = await startArrivals();
  const { url, caFile } = arrivals;
  return {
    async ours() {
      const arrival = arrivals.next();
      const { runId } = await service.trigger({ prompt, callbackUrl: url });
      const { at } = await arrival;
      await untilNoSandbox(service);
      return { values: { T20: at - (await exitOf(service, runId)) } };
    },
    async limit() {
      const arrival = arrivals.next();
      limits.post(url, caFile);
      const { at, body } = await arrival;
      const { beganAt } = JSON.parse(body) as { beganAt: number }; // limit-server.ts sends it
      return { values: { T20: at - beganAt } };
    },
    async close() {
      await limits.close();
      await arrivals.close();
      await service.stop();
    },
  };
}

interface Arrival {
  at: number;
  body: string;
}

/** Both sides send to the same receiver. */
async function startArrivals() {
  let resolveNext: ((arrival: Arrival) => void) | null = null;
  const receiver = await startReceiver((response, { body, at }) => {
    const toMachine = machineMs() - performance.now();
    resolveNext?.({ at: at + toMachine, body });
    response.writeHead(204).end();
  });
  return {
    ...receiver,
    next: () => new Promise<Arrival>((resolve) => (resolveNext = resolve)),
  };
}

/** The time that the agent told as it exited, from the run's log. */
async function exitOf({ database }: BenchService, runId: string): Promise<number> {
  const { rows } = await database.pool.query<{ data: string }>(
    `select data from frames where run_id = $1 and data like '%exit_clock%'`,
    [runId],
  );
  const { exitedAt } = JSON.parse(rows[0]?.data ?? '{}') as { exitedAt?: number }; // the scripted agent's line
  return exitedAt ?? Number.NaN;
}
