import { runtimeAdvice, runtimeFaultOf } from '../../../core/sandbox-runtime.ts';
import { type Check, notHere, seen } from '../types.ts';

export const runtime: Check = {
  name: 'runtime',
  needs: ['docker'],
  ifItFails: {
    code: 'runtime_unknown',
    what: 'What sandboxes run on cannot be asked',
    advice: 'See the log of the Docker Engine.',
  },
  async look({ docker, config }) {
    if (docker === null) return notHere('neither DOCKER_HOST nor DATA_DIR is set here');
    try {
      const used = await docker.findRuntime();
      return seen([`${used}, by SANDBOX_RUNTIME=${config.sandboxRuntime}`]);
    } catch (error) {
      const code = runtimeFaultOf(error);
      if (code === null || !(error instanceof Error)) throw error;
      const what = `Sandboxes cannot run on what SANDBOX_RUNTIME says: ${error.message}.`;
      return seen([], { code, what, advice: runtimeAdvice[code] });
    }
  },
};
