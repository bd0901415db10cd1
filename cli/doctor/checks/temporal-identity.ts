import {
  describeTemporal,
  isSameTemporal,
  type TemporalIdentity,
} from '../../../core/temporal/temporal-identity.ts';
import type { MissingWorkflows } from '../../../systems/postgres/maintenance/temporal-identity-store.ts';
import { type Check, checked, type Problem, withoutTemporal } from '../types.ts';

/** Whether the configured Temporal has the workflows of this database. */
export const temporalIdentityCheck: Check = {
  name: 'temporal identity',
  needs: ['schema', 'temporal'],
  onError: {
    code: 'temporal_identity_unknown',
    message: 'The identity of Temporal cannot be compared with the one that the database stores',
    advice: 'Check the logs of Postgres and of Temporal.',
  },
  async run({ temporal, temporalIdentity }) {
    if (temporal === null) return withoutTemporal;
    const known = await temporalIdentity.find();
    if (known === null) return checked(['no process has stored it yet']);
    const found = await temporal.identity();
    if (!isSameTemporal(known, found)) return checked([], otherTemporal(known, found));
    const { missingWorkflows } = known;
    return checked([], ...(missingWorkflows === null ? [] : [workflowsMissing(missingWorkflows)]));
  },
};

const otherTemporal = (known: TemporalIdentity, found: TemporalIdentity): Problem => ({
  code: 'other_temporal',
  message: `The database belongs to ${describeTemporal(known)}, but TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE point to ${describeTemporal(found)}.`,
  advice:
    'Correct these settings. If Temporal was replaced, run `flowrun temporal adopt --confirm` and start the API and the workers again. Active runs without a workflow there then end.',
});

const workflowsMissing = ({ missing, described, since }: MissingWorkflows): Problem => ({
  code: 'workflows_missing',
  message: `Since ${since.toISOString()} Temporal lacks ${missing} of ${described} workflows of active runs, so the workers end none of these runs.`,
  advice:
    'Restore Temporal’s data. If it is lost, run `flowrun temporal adopt --confirm`: the runs then end with max_reconnects_exceeded.',
});
