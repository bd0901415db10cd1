import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stackEnv } from '../../test/support/stack-env.ts';
import { startChild } from '../limits/child.ts';
import type { TurnScript } from './simulated-agent.ts';

interface SimulatedEngine {
  dockerHost: string;
  stop(): Promise<void>;
}

/** An engine whose containers are simulated agents, for the workers of one service. */
export async function startSimulatedEngine(script: TurnScript): Promise<SimulatedEngine> {
  const folder = mkdtempSync(join(stackEnv.dataDir, 'e-'));
  const socketPath = join(folder, 's');
  const program = new URL('./simulated-engine.ts', import.meta.url);
  const engine = startChild<never, object>(program, { socketPath, script });
  await engine.answer();
  return {
    dockerHost: `unix://${socketPath}`,
    async stop() {
      await engine.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
