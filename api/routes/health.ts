import { limits } from '../../core/limits.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';

type Health = 'ok' | 'failed';

/** `/healthz`: the process lives. `/readyz`: each part that it depends on, by name. */
export function health(app: App, { checks, logger }: ApiDeps): void {
  const config = { isPublic: true } as const;
  const schema = { hide: true };
  app.get('/healthz', { config, schema }, async () => ({ data: { status: 'ok' } }));

  app.get('/readyz', { config, schema }, async (_request, reply) => {
    const answers = await Promise.all(
      Object.entries(checks).map(async ([name, check]): Promise<[string, Health]> => {
        try {
          await withinTime(check());
          return [name, 'ok'];
        } catch (err) {
          logger.warn({ err, check: name }, 'not_ready');
          return [name, 'failed'];
        }
      }),
    );
    const isReady = answers.every(([, answer]) => answer === 'ok');
    reply.code(isReady ? 200 : 503);
    return { data: { status: isReady ? 'ok' : 'failed', checks: Object.fromEntries(answers) } };
  });
}

async function withinTime(check: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), limits.readinessTimeoutMs);
  });
  try {
    await Promise.race([check, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
