import { limits } from '../../../core/limits.ts';
import { setClock } from '../advice.ts';
import { type Check, checked } from '../types.ts';

export const postgres: Check = {
  name: 'postgres',
  store: 'postgres',
  needs: [],
  ifItFails: {
    code: 'postgres_away',
    what: 'Postgres does not answer',
    advice:
      'Start Postgres, or correct DATABASE_URL. Until then nothing is admitted and nothing is read.',
  },
  async look(parts) {
    const from = performance.now();
    const version = await parts.postgres.version();
    return checked([version, `${Math.round(performance.now() - from)} ms`]);
  },
};

export const schema: Check = {
  name: 'schema',
  needs: ['postgres'],
  ifItFails: {
    code: 'schema_unreadable',
    what: 'The state of the schema cannot be read',
    advice: 'Let the user of DATABASE_URL read and change the tables of this database.',
  },
  async look(parts) {
    const { last, missing, unknown } = await parts.postgres.schema();
    if (missing.length > 0) {
      return checked([], {
        code: 'schema_incomplete',
        what: last === null ? 'The database has no schema.' : lacking(missing),
        advice: 'Run `flowrun migrate`, then start the API and the workers again.',
      });
    }
    const later = unknown.length > 0 ? [`and of a later version ${unknown.join(', ')}`] : [];
    return checked([last ?? '', ...later]);
  },
};

const namedMost = 3;

function lacking(missing: string[]): string {
  const more = missing.length > namedMost ? ' …' : '';
  return `The schema lacks ${missing.slice(0, namedMost).join(', ')}${more}.`;
}

export const encryptionKey: Check = {
  name: 'encryption key',
  needs: ['schema'],
  ifItFails: {
    code: 'secrets_unreadable',
    what: 'What was sealed cannot be read',
    advice: 'See what Postgres logs about it.',
  },
  async look(parts) {
    const opens = await parts.postgres.opensSecrets();
    if (opens === null) return checked(['nothing to try it on yet']);
    if (opens) return checked(['opens what was sealed']);
    return checked([], {
      code: 'wrong_encryption_key',
      what: 'What was sealed in this database cannot be opened with this ENCRYPTION_KEY.',
      advice:
        'Give the API, the workers and this command the key that the database was used with. No other opens it.',
    });
  },
};

export const clock: Check = {
  name: 'clock',
  needs: ['schema'],
  ifItFails: {
    code: 'clock_unknown',
    what: 'The clock of Postgres cannot be read',
    advice: 'See what Postgres logs about it.',
  },
  async look(parts) {
    const aheadMs = await parts.postgres.clockAheadMs();
    if (Math.abs(aheadMs) <= limits.clockOffMaxMs) return checked(['that of Postgres']);
    return checked([], {
      code: 'clock_wrong',
      what: `The clock of this machine is ${offBy(aheadMs)} that of Postgres.`,
      advice: setClock,
    });
  },
};

export function offBy(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  return `${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
}
