import { stackEnv } from '../../test/support/stack-env.ts';
import type { Target } from '../measure/scenario.ts';
import { openBareSandbox } from './bare-sandbox.ts';
import { openColdService } from './cold-service.ts';
import { coldPrompt } from './first-text.ts';

/**
 * Both sides run the real agent with the same offline model, in a container with the same
 * specification: network, mounts, limits, and two CPUs until the first output line, one after it.
 */
export const coldStart: Target = {
  id: 'T1',
  title: 'POST to first text, cold, against a bare container with the same agent',
  unit: 'ms',
  better: 'less',
  goal: 1.1,
  gate: 1.2,
  async open() {
    const service = await openColdService();
    const bare = openBareSandbox({
      image: stackEnv.sandboxImage,
      model: service.model,
      dataDir: service.bareDir,
      prompt: coldPrompt,
    });
    return {
      ours: service.run,
      limit: bare.run,
      async close() {
        await bare.close();
        await service.close();
      },
    };
  },
};
