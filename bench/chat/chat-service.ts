import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Service, startService } from '../../test/support/service.ts';
import { openTalk, type Talk } from './talk.ts';

export interface ChatService {
  service: Service;
  talk: Talk;
  /** A folder beside the service's own, for what is measured against it. */
  bareDir: string;
  anotherTalk(): Promise<Talk>;
  close(): Promise<void>;
}

/** With a session that has been spoken to, real agent and offline model. */
export async function openChatService(logLevel: 'info' | 'debug' = 'info'): Promise<ChatService> {
  const service = await startService({ agent: 'real', env: { LOG_LEVEL: logLevel } });
  const bareDir = join(service.dataDir, 'b');
  mkdirSync(bareDir, { recursive: true });
  const talks: Talk[] = [];

  async function anotherTalk(): Promise<Talk> {
    const talk = await openTalk(service);
    talks.push(talk);
    return talk;
  }

  return {
    service,
    talk: await anotherTalk(),
    bareDir,
    anotherTalk,
    async close() {
      for (const talk of talks) talk.close();
      await service.stop();
    },
  };
}
