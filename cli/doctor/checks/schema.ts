import { type Check, seen } from '../types.ts';

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
      return seen([], {
        code: 'schema_incomplete',
        what: last === null ? 'The database has no schema.' : lacking(missing),
        advice: 'Run `flowrun migrate`, then start the API and the workers again.',
      });
    }
    const later = unknown.length > 0 ? [`and of a later version ${unknown.join(', ')}`] : [];
    return seen([last ?? '', ...later]);
  },
};

const namedMost = 3;

function lacking(missing: string[]): string {
  const more = missing.length > namedMost ? ' …' : '';
  return `The schema lacks ${missing.slice(0, namedMost).join(', ')}${more}.`;
}
