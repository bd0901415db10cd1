/** SQL that is true while this token is the current one of the run's log, and without a token. */
export const leaseIsCurrent = (runId: string, token: string): string =>
  `(${token}::bigint is null
    or exists (select from run_logs l where l.run_id = ${runId} and l.lease_token = ${token}))`;
