#!/bin/sh
# Run by the Postgres image when it creates its data directory (docker-compose.yml).
set -eu
psql --username "$POSTGRES_USER" --dbname postgres --set=ON_ERROR_STOP=1 \
  --set=owner_password="$OWNER_PASSWORD" \
  --set=service_password="$SERVICE_PASSWORD" \
  --set=retention_password="$RETENTION_PASSWORD" \
  --file=/deploy/roles.sql
