import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { limits } from '../core/limits.ts';
import { childRunLimits } from '../core/runs/child-runs.ts';
import { variable } from './environment.ts';
import {
  address,
  isHostName,
  isNetwork,
  isOrigin,
  itemsOf,
  list,
  postgresConnections,
  shortText,
  wholeNumber,
  yesOrNo,
} from './variable-types.ts';

/** Settings of the API alone. */
export const apiVariables = {
  API_POSTGRES_CONNECTIONS: postgresConnections(0).describe(
    'How many connections to Postgres an API process opens at most. Uploads of large files use at most half of them, and those of files up to 1 MiB a quarter.',
  ),
  POSTGRES_DISK_DIR: variable('an absolute path', (path) => (isAbsolute(path) ? path : null))
    .optional()
    .describe(
      'A directory on the disk of Postgres, of which the API reads only the free space. Without it the API does not know when that disk is almost full.',
    ),
  POSTGRES_DISK_RESERVE_BYTES: wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER })
    .default(limits.postgres.diskReserveBytes)
    .describe(
      'With less free space in `POSTGRES_DISK_DIR`, new runs, sessions, messages and files are answered with 503.',
    ),
  INIT_OPERATOR: shortText(limits.text.nameMaxChars)
    .default('operator')
    .describe(
      'The name of the first operator, whose sign-in link the API logs at its first start. `flowrun hello` prints further ones.',
    ),
  TEMPORAL_UI_URL: address('an http:// or https:// address', ['http:', 'https:'])
    .optional()
    .describe('The URL of the Temporal UI, for links.'),
  RUN_DEPTH_MAX: wholeNumber({ min: 0, max: childRunLimits.depth.max })
    .default(childRunLimits.depth.default)
    .describe(
      'The maximum depth of a run tree, if [agents start runs](mcp.md#agents-that-start-runs). With 0, no agent can start a run.',
    ),
  HAS_MODEL_KEY: yesOrNo()
    .default('no')
    .describe('Whether the worker has a model key. The API never receives the key itself.'),
  CORS_ORIGINS: variable(
    '* or origins like https://app.example.com, separated by commas',
    (origins) => (origins.trim() === '*' ? ('any' as const) : itemsOf(origins, isOrigin)),
  )
    .default('any')
    .describe('Origins whose pages may call the API from a browser.'),
  TRUSTED_PROXIES: list(
    'addresses, networks like 10.0.0.0/8, or host names, separated by commas',
    (item) => isIP(item) !== 0 || isNetwork(item) || isHostName(item),
  )
    .default([])
    .describe(
      'Proxies whose `X-Forwarded-For` header is trusted when determining the client IP, which is used to rate-limit unknown keys.',
    ),
};
