// The commands and the code of the first pages, as they are on them, with one service.

import { afterAll, beforeAll, describe } from 'vitest';
import { type Acme, openAcme } from '../../support/open-acme.ts';
import { clientTests } from './client-tests.ts';
import { readmeTests } from './readme-tests.ts';

const patiently = { timeout: 180_000 };

let acme: Acme;
beforeAll(async () => {
  acme = await openAcme();
}, 240_000);
afterAll(() => acme?.close());

describe('README and first start', patiently, () => readmeTests(() => acme));
describe('TypeScript client', patiently, () => clientTests(() => acme));
