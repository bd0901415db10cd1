/** Of the page of settings what no schema of ours has: others' own, and those of what starts the service. */
export const furtherSettings = `## Temporal

\`TEMPORAL_ADDRESS\` (required), \`TEMPORAL_NAMESPACE\` (\`default\`), \`TEMPORAL_API_KEY\`, \`TEMPORAL_TLS_*\` and \`TEMPORAL_CONFIG_FILE\` are
Temporal's own, with the meaning that its clients give them. For TLS: \`TEMPORAL_TLS=true\`, or \`TEMPORAL_TLS_SERVER_CA_CERT_PATH\`,
\`TEMPORAL_TLS_CLIENT_CERT_PATH\` and \`TEMPORAL_TLS_CLIENT_KEY_PATH\` (or \`…_DATA\`, with the PEM itself), and
\`TEMPORAL_TLS_SERVER_NAME\`; [more hosts](more-hosts.md#tls) has those of all stores.

## Docker compose

In \`.env\` beside \`docker-compose.yml\`. The settings above may stand there too, but for those which that file gives the service
itself: where its parts are, its folders and its image. Do not set \`DATABASE_URL\` or \`REDIS_URL\` there.

| variable | for | default |
|---|---|---|
| \`FLOWRUN_BIND\`, \`FLOWRUN_PORT\` | Where the API is published. | \`127.0.0.1\`, \`8080\` |
| \`TEMPORAL_UI_PORT\` | Where Temporal's web interface is published, on loopback. | \`8233\` |
| \`FLOWRUN_DOMAIN\` | The name that the profile \`tls\` gets a certificate for. | \`localhost\` |
| \`TRUSTED_PROXIES\` | As above; behind a proxy of your own, its address as the API sees it. | \`caddy\`, the one of the profile \`tls\` |
| \`DOCKER_SOCKET\` | The engine's socket on this machine. | \`/var/run/docker.sock\` |
| \`BACKUP_DIR\` | The folder of this machine that \`docker compose run --rm backup\` writes into and reads from. | \`./backups\` |
| \`ENCRYPTION_KEY\` | Your own key, before the first start. | made once |
| \`HOST_NAME\` | As above. | \`docker\` |
| \`TEMPORAL_HISTORY_SHARDS\` | More for a large installation; **never to be changed after the first start**. | \`4\` |
| \`TEMPORAL_RETENTION\` | How long Temporal keeps what has ended; taken at the first start. | \`72h\` |
| \`REDIS_MAX_MEMORY\` | How much Redis may hold, from its next restart on (\`docker compose restart redis\`). | \`512mb\` |
| \`FLOWRUN_VERSION\`, \`POSTGRES_VERSION\`, \`REDIS_VERSION\`, \`TEMPORAL_VERSION\`, \`TEMPORAL_UI_VERSION\`, \`CADDY_VERSION\` | The tags of the images. | as the file says |
| \`FLOWRUN_HOSTS_NAME\` | With \`deploy/hosts/primary.yml\`: the name or IPv4 address by which other hosts reach this machine. | **required** there |
| \`FLOWRUN_HOSTS_BIND\` | Where it publishes the entrances for them. | \`0.0.0.0\` |
| \`FLOWRUN_HOSTS_POSTGRES_PORT\`, \`FLOWRUN_HOSTS_REDIS_PORT\`, \`FLOWRUN_HOSTS_TEMPORAL_PORT\` | Their ports; set them before hosts join. | \`5432\`, \`6380\`, \`7243\` |
| \`COMPOSE_PROJECT_NAME\` | The name of this installation: of its containers, its volumes and its \`INSTANCE\`. | \`flowrun\` |

## The stack of \`npm run demo\` and \`npm start\`

It takes \`DATABASE_URL\`, \`REDIS_URL\`, \`TEMPORAL_ADDRESS\`, \`TEMPORAL_NAMESPACE\`, \`TEMPORAL_UI_URL\`, \`DOCKER_HOST\`, \`ANTHROPIC_API_KEY\` and
\`ANTHROPIC_BASE_URL\` where they are set. Every other setting goes on to the API and the worker, but for those that the stack makes.

| variable | for | default |
|---|---|---|
| \`FLOWRUN_DATA\` | The folder of its data and logs; the command line finds the stack there. | \`/var/lib/flowrun\`, or \`~/.local/share/flowrun\` if you are not root |
| \`FLOWRUN_CACHE\` | The folder of what is built once. | \`~/.cache/flowrun\` |
| \`FLOWRUN_API_PORT\` | The API's port, on loopback. | \`8080\` |
| \`FLOWRUN_TEMPORAL_PORT\`, \`FLOWRUN_TEMPORAL_UI_PORT\` | Those of Temporal and of its web interface. | \`7233\`, \`8233\` |
| \`FLOWRUN_KEEP\` | With \`1\`, tests and benches leave their stack up: \`npm run stop -- test\`, or \`bench\`, ends it. | ends with them |
| \`FUZZ_REQUESTS\` | How many requests \`npm run test:fuzz\` sends. | \`100000\` |
| \`NEWER_ENGINE\` | With \`1\`, \`npm run test:compose\` is about a Docker Engine that is built from sources, and mounts folders of a volume. | the one that is installed |
`;
