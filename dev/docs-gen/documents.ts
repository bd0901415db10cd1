// Renders the generated files that are committed.

import { join } from 'node:path';
import { makeFlowFileSchema } from '../../api/flows/flow-file-schema.ts';
import { repository } from '../lib/folders.ts';
import { makeClientTypes } from './client-types.ts';
import { makeLimits } from './limits.ts';
import { makeCollection } from './postman.ts';
import { makePythonFiles } from './python/client-python.ts';
import { makeSettings } from './settings.ts';
import { makeStreamPage } from './stream.ts';
import { buildStubApi } from './stub-api.ts';

interface GeneratedDocument {
  path: string;
  text: string;
}

/** The default address of the API. */
const publicUrl = 'http://127.0.0.1:8080';

export async function makeDocuments(): Promise<GeneratedDocument[]> {
  const app = await buildStubApi(publicUrl);
  const description = app.swagger();
  await app.close();
  return [
    written('api/openapi.json', asJson(description)),
    written('api/postman.json', asJson(await makeCollection(description))),
    written('api/flow-file.schema.json', asJson(makeFlowFileSchema())),
    written('client/generated/types.ts', makeClientTypes(description)),
    ...makePythonFiles(description).map(([path, text]) => written(path, text)),
    written('docs/settings.md', makeSettings()),
    written('docs/limits.md', makeLimits()),
    written('docs/stream.md', makeStreamPage()),
  ];
}

const written = (path: string, text: string): GeneratedDocument => ({
  path: join(repository, path),
  text,
});

const asJson = (document: unknown): string => `${JSON.stringify(document, null, 2)}\n`;
