// The files and commands of each recipe, as they are on its page, with one service. Stand-ins for
// other services check requests by the formats that those publish.

import { afterAll, beforeAll, describe } from 'vitest';
import { type Acme, openAcme } from '../../support/open-acme.ts';
import { flowsInCiTests } from './flows-in-ci-tests.ts';
import { githubActionTests } from './github-action-tests.ts';
import { kubernetesCronjobTests } from './kubernetes-cronjob-tests.ts';
import { n8nTests } from './n8n-tests.ts';
import { slackQuestionsTests } from './slack-questions-tests.ts';
import { standardWebhooksTests } from './standard-webhooks-tests.ts';

const patiently = { timeout: 180_000 };

let acme: Acme;
beforeAll(async () => {
  acme = await openAcme();
}, 240_000);
afterAll(() => acme?.close());

describe('GitHub Action', patiently, () => githubActionTests(() => acme));
describe('flows in CI', patiently, () => flowsInCiTests(() => acme));
describe('n8n', patiently, () => n8nTests(() => acme));
describe('Slack', patiently, () => slackQuestionsTests(() => acme));
describe('Kubernetes CronJob', patiently, () => kubernetesCronjobTests(() => acme));
describe('Standard Webhooks', patiently, () => standardWebhooksTests(() => acme));
