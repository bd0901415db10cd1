# The service in one image. The first argument selects the part: api, worker, migrate, model,
# secrets, or a command of the command line. Node strips the types. A file `extra-ca.crt` in the
# context is trusted during the build, for networks that inspect TLS.

ARG POSTGRES_VERSION=17.10-bookworm

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json extra-ca.cr[t] ./
# Removes binaries for other platforms.
RUN touch extra-ca.crt \
 && NODE_EXTRA_CA_CERTS=/app/extra-ca.crt npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
 && rm extra-ca.crt \
 && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
      ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -rf {} +
COPY . .
# Bundling at start would take seconds, and sandboxes would wait for the worker. Afterwards nothing
# needs the compilers, source maps and type declarations.
RUN node deploy/bundle-workflows.ts \
 && node deploy/bundle-packages.ts \
 && rm -rf node_modules/.bin node_modules/@swc/core-* node_modules/esbuild node_modules/@esbuild \
      node_modules/typescript node_modules/@typescript \
      dashboard client-python node_modules/preact node_modules/@preact node_modules/marked \
 && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete \
 && chmod -R a+rX,go-w .

# The command line with the programs of the Postgres server that is backed up: Debian's pg_dump is
# older and rejects a newer server. Both images use the same Debian release, so that node finds its
# libraries. A new volume takes its owner from its first mount point, which may be /secrets of this
# image.
FROM postgres:${POSTGRES_VERSION} AS backup
COPY --from=build /usr/local/bin/node /usr/local/bin/
COPY --from=build /app /app
RUN install -d -o 1000 -g 1000 /secrets
ENV NODE_ENV=production
WORKDIR /app
ENTRYPOINT ["/app/deploy/flowrun"]
CMD ["--help"]

FROM node:24-bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates openssl \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log \
 && rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn* \
 && ln -s /app/deploy/flowrun /usr/local/bin/flowrun \
 && install -d -m 700 /data \
 && for reader in service postgres redis temporal hosts entrance; do \
      install -d -o node -g node /secrets /secrets/$reader; \
    done
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app /app
USER node
ENTRYPOINT ["/app/deploy/flowrun"]
CMD ["api"]
