import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Service, startService } from '../../test/support/service.ts';
import { type ChatClient, openChatClient } from './chat-client.ts';

interface ChatService {
  service: Service;
  client: ChatClient;
  /** A folder beside the service's own, for the baseline container. */
  bareDir: string;
  openClient(): Promise<ChatClient>;
  close(): Promise<void>;
}

/** Starts a service with one open session, the real agent and the offline model. */
export async function openChatService(logLevel: 'info' | 'debug' = 'info'): Promise<ChatService> {
  const service = await startService({ agent: 'real', env: { LOG_LEVEL: logLevel } });
  const bareDir = join(service.dataDir, 'b');
  mkdirSync(bareDir, { recursive: true });
  const clients: ChatClient[] = [];

  async function openClient(): Promise<ChatClient> {
    const client = await openChatClient(service);
    clients.push(client);
    return client;
  }

  return {
    service,
    client: await openClient(),
    bareDir,
    openClient,
    async close() {
      for (const client of clients) client.close();
      await service.stop();
    },
  };
}
