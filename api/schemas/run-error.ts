import { z } from 'zod';
import { endCauses, errorOf } from '../../core/runs/end-cause.ts';

const names = endCauses.filter(
  (cause) => errorOf({ cause, detail: null, exitCode: null }) === cause,
);

/** Why a run failed. */
export const runError = z
  .string()
  .optional()
  .meta({
    description:
      'Absent on clean completion. Otherwise `Process exited with code N`, ' +
      `\`container_start_failed: …\`, or one of ${names.map((name) => `\`${name}\``).join(', ')}. ` +
      'More names may be added.',
  });
