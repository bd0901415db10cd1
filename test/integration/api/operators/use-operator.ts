import { beforeAll } from 'vitest';
import type { AuditEntry } from '../../../../core/audit/audit-entry.ts';
import { type CallOptions, caller } from '../call.ts';
import { useTenant } from '../use-api.ts';
import { cookieOf, type OperatorClient, operatorWith, sameOrigin } from './operator-client.ts';

interface Operators {
  cookie: string;
  /** Has signed in. */
  byCookie: OperatorClient;
  /** With a token for the project of the tenant, and without `Origin`. */
  byToken: OperatorClient;
  tokenId: string;
}

/** A project whose runs and sessions a key and an operator change. */
export function useOperator() {
  const { fixture, api, tenant } = useTenant();
  // Empty until `beforeAll`, as in use-api.ts.
  const olga = {} as Operators;

  beforeAll(async () => {
    const { code } = await fixture.stores.operators.invite('olga');
    const signIn = { body: { code }, headers: sameOrigin };
    const cookie = cookieOf(await caller(api, null)('/api/sign-in', signIn));
    const expiresAt = new Date(Date.now() + 3_600_000);
    const fields = { operator: 'olga', name: 'ci', expiresAt, projectIds: [tenant.projectId] };
    const created = await fixture.stores.operatorTokens.create(fields);
    if (created === null) throw new Error('the operator was removed');
    const { token, record } = created;
    const byToken = caller(api, token);
    const byCookie = operatorWith(api, cookie);
    Object.assign(olga, { cookie, byCookie, byToken, tokenId: record.tokenId });
  });

  /** Oldest first. */
  async function entriesOf(objectId: string): Promise<AuditEntry[]> {
    const { entries } = await fixture.stores.audit.page({ limit: 500 });
    return entries.filter((entry) => entry.objectId === objectId).reverse();
  }

  return {
    fixture,
    api,
    tenant,
    olga,
    entriesOf,
    actionsOf: async (objectId: string) =>
      (await entriesOf(objectId)).map(({ action, fieldsBefore, fieldsAfter }) =>
        [action, ...fieldsBefore.map((name) => `-${name}`), ...fieldsAfter].join(' '),
      ),
    /** The path of an operator for a path below `/api/v1`. */
    at: (path: string) => `/api/projects/${tenant.projectId}${path}`,
    byKey: (path: string, options?: CallOptions) =>
      caller(api, tenant.key)(`/api/v1${path}`, options),
    /** Runs `work` while no entry can be written. */
    async withoutLog(work: () => Promise<void>): Promise<void> {
      const { pool } = fixture.database;
      await pool.query('alter table audit_log rename to audit_log_away');
      try {
        await work();
      } finally {
        await pool.query('alter table audit_log_away rename to audit_log');
      }
    },
  };
}
