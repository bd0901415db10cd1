import { limits } from '../../../core/limits.ts';
import { setClock } from '../advice.ts';
import { type Check, checked } from '../types.ts';

export const postgresCheck: Check = {
  name: 'postgres',
  store: 'postgres',
  needs: [],
  onError: {
    code: 'postgres_unreachable',
    message: 'Postgres does not respond',
    advice:
      'Start Postgres, or correct DATABASE_URL. Until then no run is admitted and nothing can be read.',
  },
  async run(context) {
    const from = performance.now();
    const version = await context.postgres.version();
    return checked([version, `${Math.round(performance.now() - from)} ms`]);
  },
};

export const schemaCheck: Check = {
  name: 'schema',
  needs: ['postgres'],
  onError: {
    code: 'schema_unreadable',
    message: 'The schema version cannot be read',
    advice: 'Grant the user of DATABASE_URL read and write access to this database.',
  },
  async run(context) {
    const { last, missing, unknown } = await context.postgres.schema();
    if (missing.length > 0) {
      return checked([], {
        code: 'schema_incomplete',
        message: last === null ? 'The database has no schema.' : lacking(missing),
        advice: 'Run `flowrun migrate`, then restart the API and the workers.',
      });
    }
    const later = unknown.length > 0 ? [`newer migrations: ${unknown.join(', ')}`] : [];
    return checked([last ?? '', ...later]);
  },
};

const namedMost = 3;

function lacking(missing: string[]): string {
  const more = missing.length > namedMost ? ' …' : '';
  return `The schema lacks ${missing.slice(0, namedMost).join(', ')}${more}.`;
}

export const temporaryTablesCheck: Check = {
  name: 'temporary tables',
  needs: ['postgres'],
  onError: {
    code: 'temporary_tables_unknown',
    message: 'The rights of the user of DATABASE_URL cannot be read',
    advice: 'Check the log of Postgres.',
  },
  async run(context) {
    if (await context.postgres.mayCreateTemporaryTables()) return checked(['permitted']);
    return checked([], {
      code: 'temporary_tables_denied',
      message: `The user of DATABASE_URL may not create temporary tables, so no file over ${limits.blob.chunkBytes / 1024 ** 2} MiB can be stored.`,
      advice:
        'Run `grant temporary on database <database> to <user>` as the owner of the database.',
    });
  },
};

export const encryptionKeyCheck: Check = {
  name: 'encryption key',
  needs: ['schema'],
  onError: {
    code: 'secrets_unreadable',
    message: 'The encrypted values cannot be read',
    advice: 'Check the log of Postgres.',
  },
  async run(context) {
    const opens = await context.postgres.opensSecrets();
    if (opens === null) return checked(['nothing encrypted yet']);
    if (opens) return checked(['decrypts stored secrets']);
    return checked([], {
      code: 'wrong_encryption_key',
      message: 'ENCRYPTION_KEY cannot decrypt the secrets in this database.',
      advice:
        'Set ENCRYPTION_KEY of the API, the workers and this command to the key that the database was created with. No other key can decrypt it.',
    });
  },
};

export const clockCheck: Check = {
  name: 'clock',
  needs: ['schema'],
  onError: {
    code: 'clock_unknown',
    message: 'The clock of Postgres cannot be read',
    advice: 'Check the log of Postgres.',
  },
  async run(context) {
    const aheadMs = await context.postgres.clockAheadMs();
    if (Math.abs(aheadMs) <= limits.host.clockOffMaxMs) return checked(['in sync with Postgres']);
    return checked([], {
      code: 'clock_wrong',
      message: `The clock of this machine is ${offBy(aheadMs)} that of Postgres.`,
      advice: setClock,
    });
  },
};

export function offBy(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  return `${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
}
