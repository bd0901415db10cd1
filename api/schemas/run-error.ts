import { z } from 'zod';
import { endCauses, errorOf } from '../../core/runs/end-cause.ts';

const names = endCauses.filter(
  (cause) => errorOf({ cause, detail: null, exitCode: null }) === cause,
);

/** Why a run did not end cleanly. */
export const runError = z
  .string()
  .optional()
  .meta({
    description:
      'Absent on clean completion. Otherwise `Process exited with code N`, ' +
      `\`container_start_failed: …\`, or a name: ${names.map((name) => `\`${name}\``).join(', ')}. ` +
      'More names may come.',
  });
