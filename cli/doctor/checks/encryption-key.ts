import { type Check, seen } from '../types.ts';

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
    if (opens === null) return seen(['nothing to try it on yet']);
    if (opens) return seen(['opens what was sealed']);
    return seen([], {
      code: 'wrong_encryption_key',
      what: 'What was sealed in this database cannot be opened with this ENCRYPTION_KEY.',
      advice:
        'Give the API, the workers and this command the key that the database was used with. No other opens it.',
    });
  },
};
