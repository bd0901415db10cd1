// Stores canaries in every secret field, then searches every column of every table as text and
// bytes.

import { expect, test } from 'vitest';
import { createKeyStore } from '../../../../systems/postgres/accounts/key-store.ts';
import { createOperatorStore } from '../../../../systems/postgres/accounts/operator-store.ts';
import { createOperatorTokenStore } from '../../../../systems/postgres/accounts/operator-token-store.ts';
import { createProjectStore } from '../../../../systems/postgres/accounts/project-store.ts';
import { createRunTokenStore } from '../../../../systems/postgres/accounts/run-token-store.ts';
import { createRunConfigStore } from '../../../../systems/postgres/admission/run-config-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { useDatabase } from '../../../support/use-database.ts';

const canary = 'canary-9f3b';

const database = useDatabase();

/** Names of tables that contain a text, as text or within bytes. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows: tables } = await database.pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const hex = Buffer.from(text).toString('hex');
    const { rows } = await database.pool.query<{ hits: number }>(
      `select count(*) as hits from ${name} t where position($1 in t::text) > 0
         or position($2 in t::text) > 0`,
      [text, hex],
    );
    if ((rows[0]?.hits ?? 0) > 0) found.push(name);
  }
  return found;
}

const server = {
  type: 'http',
  url: `https://${canary}.example`,
  headers: { auth: canary },
} as const;

test('secrets are in no table as plain text, and readable for the sandbox', async () => {
  const secrets = { env: { TOKEN: canary }, mcpServers: { docs: server } };
  const scenario = await createScenario(database.pool, testSealer, { flow: { secrets } });
  const config = {
    ...{ env: { TOKEN: canary }, mcpServers: { own: server }, mcpMode: 'merge' as const },
    ...{ appendSystemPrompt: canary, disallowedTools: [], context: { user: canary } },
  };
  const { runId } = await scenario.run({ config });
  const { key, record } = await createKeyStore(database.pool).create({
    ...{ projectId: scenario.projectId, name: 'ci', createdBy: 'ana' },
  });
  const projects = createProjectStore(database.pool, testSealer);
  await projects.update(scenario.projectId, {
    model: { apiKey: canary, baseUrl: `https://${canary}.example` },
  });
  const operators = createOperatorStore(database.pool);
  const { code } = await operators.invite('ana');
  const signedIn = await operators.signIn((await operators.invite('ana')).code);
  const session = signedIn?.session ?? '';
  const expiresAt = new Date(Date.now() + 60_000);
  const fields = { operator: 'ana', name: 'ci', expiresAt };
  const { token = '' } = (await createOperatorTokenStore(database.pool).create(fields)) ?? {};
  expect(token).toMatch(/^fro_/);
  const forRun = { keyId: record.keyId, runId, validMs: 60_000 };
  const runToken = await createRunTokenStore(database.pool).create(forRun);
  const { secret: webhookSecret } = await projects.ensureWebhookSecrets(scenario.projectId);
  const shown = [key, token, runToken.token].map((text) => text.slice(12));
  for (const secret of [canary, ...shown, webhookSecret.slice(4), code, session]) {
    expect(await tablesWith(secret)).toEqual([]);
  }
  const plan = await createRunStore(database.pool, testSealer).sandboxPlan(runId);
  expect(plan).toMatchObject({ secrets, config });
});

test('the search finds text that is stored', async () => {
  const scenario = await createScenario(database.pool, testSealer);
  await scenario.run({ prompt: `a ${canary}-prompt` });
  expect(await tablesWith(`${canary}-prompt`)).toEqual(['runs']);
  await database.pool.query(`update projects set webhook_secret_sealed = $1`, [
    Buffer.from(`x${canary}-bytes`),
  ]);
  expect(await tablesWith(`${canary}-bytes`)).toEqual(['projects']);
});

test('a secret of one run does not open for another', async () => {
  const scenario = await createScenario(database.pool, testSealer);
  const [one, two] = [await scenario.run(), await scenario.run()];
  await database.pool.query(
    `update run_configs set sealed = (select sealed from run_configs where run_id = $1)
     where run_id = $2`,
    [one.runId, two.runId],
  );
  const configs = createRunConfigStore(database.pool, testSealer);
  expect(await configs.read(one)).not.toBeNull();
  await expect(configs.read(two)).rejects.toThrow();
});
