import { redisMemoryFor } from '../../core/redis-memory.ts';
import { bytes } from './units.ts';

/**
 * The part of the settings page that no schema describes: Temporal, docker compose, local stack.
 */
export const composeSettings = `## Temporal

\`TEMPORAL_ADDRESS\` (required), \`TEMPORAL_NAMESPACE\` (\`default\`), \`TEMPORAL_API_KEY\`,
\`TEMPORAL_TLS_*\` and \`TEMPORAL_CONFIG_FILE\` are Temporal's own variables, with their usual meaning.
For TLS, set \`TEMPORAL_TLS=true\`, or set these:

- \`TEMPORAL_TLS_SERVER_CA_CERT_PATH\`
- \`TEMPORAL_TLS_CLIENT_CERT_PATH\` and \`TEMPORAL_TLS_CLIENT_KEY_PATH\`
- \`TEMPORAL_TLS_SERVER_NAME\`

With \`_DATA\` in place of \`_PATH\` the value is the PEM text. [More hosts](more-hosts.md#tls) lists the
TLS settings of all stores.

## Docker compose

These go into \`.env\` beside \`docker-compose.yml\`. The settings above work there too, except those
that \`docker-compose.yml\` sets itself: addresses, directories and the image. Do not set
\`DATABASE_URL\` or \`REDIS_URL\` in \`.env\`.

| variable | purpose | default |
|---|---|---|
| \`FLOWRUN_BIND\`, \`FLOWRUN_PORT\` | The address and port the API is published on. | \`127.0.0.1\`, \`8080\` |
| \`TEMPORAL_UI_PORT\` | The port of the Temporal UI, on loopback. | \`8233\` |
| \`FLOWRUN_DOMAIN\` | The domain of the profile \`tls\`, for its certificate. | \`localhost\` |
| \`TRUSTED_PROXIES\` | As above. With your own proxy, set its address as the API sees it. | \`caddy\`, the proxy of the profile \`tls\` |
| \`DOCKER_SOCKET\` | The socket of the Docker Engine on this machine. | \`/var/run/docker.sock\` |
| \`BACKUP_DIR\` | The directory that \`docker compose run --rm backup\` writes to and reads from. | \`./backups\` |
| \`ENCRYPTION_KEY\` | Your own key; set it before the first start. | generated at the first start |
| \`HOST_NAME\` | As above. | \`docker\` |
| \`TEMPORAL_HISTORY_SHARDS\` | More shards for a large installation. **Cannot be changed after the first start.** | \`4\` |
| \`TEMPORAL_RETENTION\` | How long Temporal retains closed workflows; read at the first start. | \`72h\` |
| \`POSTGRES_MAX_CONNECTIONS\` | \`max_connections\` of Postgres; applied by \`docker compose up -d\`. | \`300\` |
| \`REDIS_MAX_MEMORY\` | The memory limit of Redis; applied by \`docker compose up -d\` and \`docker compose restart redis\`. | ${bytes(redisMemoryFor(0))}, and ${bytes(redisMemoryFor(1) - redisMemoryFor(0))} per slot of this machine |
| \`FLOWRUN_VERSION\`, \`POSTGRES_VERSION\`, \`REDIS_VERSION\`, \`TEMPORAL_VERSION\`, \`TEMPORAL_UI_VERSION\`, \`CADDY_VERSION\` | The tags of the images. | see \`docker-compose.yml\` |
| \`FLOWRUN_HOSTS_NAME\` | With \`deploy/hosts/primary.yml\`: the name or IPv4 address by which other hosts reach this machine. | **required** there |
| \`FLOWRUN_HOSTS_BIND\` | The address its ingress is published on. | \`0.0.0.0\` |
| \`FLOWRUN_HOSTS_POSTGRES_PORT\`, \`FLOWRUN_HOSTS_REDIS_PORT\`, \`FLOWRUN_HOSTS_TEMPORAL_PORT\` | The ports of the ingress; set them before hosts join. | \`5432\`, \`6380\`, \`7243\` |
| \`COMPOSE_PROJECT_NAME\` | The name of this installation: of its containers and volumes, and its \`INSTANCE\`. | \`flowrun\` |

## The stack of \`npm run demo\` and \`npm start\`

It uses \`DATABASE_URL\`, \`REDIS_URL\`, \`TEMPORAL_ADDRESS\`, \`TEMPORAL_NAMESPACE\`, \`TEMPORAL_UI_URL\`,
\`DOCKER_HOST\`, \`ANTHROPIC_API_KEY\` and \`ANTHROPIC_BASE_URL\` if they are set. It passes every other
setting on to the API and the worker, except those that it sets itself.

| variable | purpose | default |
|---|---|---|
| \`FLOWRUN_DATA\` | The directory of its data and logs. The command line finds the stack there. | \`/var/lib/flowrun\`, or \`~/.local/share/flowrun\` if you are not root |
| \`FLOWRUN_CACHE\` | The directory of downloads and builds. | \`~/.cache/flowrun\` |
| \`FLOWRUN_API_PORT\` | The port of the API, on loopback. | \`8080\` |
| \`FLOWRUN_TEMPORAL_PORT\`, \`FLOWRUN_TEMPORAL_UI_PORT\` | The ports of Temporal and of its UI. | \`7233\`, \`8233\` |
| \`FLOWRUN_KEEP\` | With \`1\`, tests and benchmarks keep their stack running; \`npm run stop -- test\` or \`npm run stop -- bench\` stops it. | the stack stops with them |
| \`FUZZ_REQUESTS\` | The number of requests that \`npm run test:fuzz\` sends. | \`100000\` |
| \`NEWER_ENGINE\` | With \`1\`, \`npm run test:compose\` uses a Docker Engine built from source, which mounts volume subdirectories. | the installed engine |
`;
