# syntax=docker/dockerfile:1

FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# What is optional is the pinned Node and the embedded Postgres: the image has a Node, and production a Postgres.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="koppelvlak" \
      org.opencontainers.image.description="One server for three Dutch national interfaces of local government" \
      org.opencontainers.image.version="1.0.0" \
      org.opencontainers.image.licenses="EUPL-1.2"
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY openapi ./openapi
COPY migrations ./migrations
COPY docs/runbook.md ./docs/runbook.md
COPY src ./src
COPY conformance ./conformance
# A volume for PROOF_STATE begins with these rights. Nothing else is written: the root file system may be read-only.
RUN install --directory --owner=node --group=node --mode=0700 /state
USER node
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.MANAGEMENT_PORT || 9090}/health/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "src/main.ts"]
CMD ["serve"]
