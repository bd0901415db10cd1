import { type Check, counted, seen } from '../types.ts';
import { named } from './stuck-runs.ts';

const untoldMs = 15_000;

export const messages: Check = {
  name: 'messages',
  needs: ['schema'],
  mendNeeds: ['workers'],
  ifItFails: {
    code: 'messages_unreadable',
    what: 'The messages cannot be read',
    advice: 'See what Postgres logs about it.',
  },
  async look(parts) {
    const untold = await parts.messages.unsignalled(untoldMs);
    if (untold.length === 0) return seen([]);
    const sessions = untold.map(({ run }) => run);
    return seen([], {
      code: 'message_not_told',
      what: `${counted(untold.length, 'session')} with messages that their workflows have not been told of: ${named(sessions)}.`,
      advice: 'A worker tells them within seconds: see its log for reconcile_message_failed.',
      mend: parts.mends.signalMessages,
    });
  },
};
