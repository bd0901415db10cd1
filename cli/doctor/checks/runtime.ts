import { runtimeAdvice } from '../../../core/sandbox-runtime.ts';
import { type Check, notHere, seen } from '../check.ts';

export const runtime: Check = {
  name: 'runtime',
  needs: ['docker'],
  ifItFails: {
    code: 'runtime_missing',
    what: 'Sandboxes cannot run on what SANDBOX_RUNTIME says',
    advice: runtimeAdvice,
  },
  async look({ docker, config }) {
    if (docker === null) return notHere('neither DOCKER_HOST nor DATA_DIR is set here');
    const used = await docker.findRuntime();
    return seen([`${used}, by SANDBOX_RUNTIME=${config.sandboxRuntime}`]);
  },
};
