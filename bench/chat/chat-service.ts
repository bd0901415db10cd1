import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Service, startService } from '../../test/support/service.ts';
import { type ChatClient, openChatClient } from './chat-client.ts';

interface ChatService {
  service: Service;
  talk: ChatClient;
  /** A folder beside the service's own, for what is measured against it. */
  bareDir: string;
  anotherTalk(): Promise<ChatClient>;
  close(): Promise<void>;
}

/** With a session that has been spoken to, real agent and offline model. */
export async function openChatService(logLevel: 'info' | 'debug' = 'info'): Promise<ChatService> {
  const service = await startService({ agent: 'real', env: { LOG_LEVEL: logLevel } });
  const bareDir = join(service.dataDir, 'b');
  mkdirSync(bareDir, { recursive: true });
  const talks: ChatClient[] = [];

  async function anotherTalk(): Promise<ChatClient> {
    const talk = await openChatClient(service);
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
