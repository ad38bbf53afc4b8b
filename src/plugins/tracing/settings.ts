import { optional, url } from '../../settings/kinds.ts';
import type { Config, Fault } from '../../settings/read-config.ts';

declare module '../../settings/read-config.ts' {
  interface SettingGroups {
    readonly tracing: typeof settings.tracing;
  }
}

export const settings = {
  tracing: {
    endpoint: optional(
      'TRACING_ENDPOINT',
      url('https', 'http'),
      'OpenTelemetry collector of [traces](operations.md#traces), without `/v1/traces`.',
    ),
  },
};

export const isServed = ({ tracing }: Config): boolean => tracing.endpoint !== undefined;

/** It sees every request, also those that other plugins refuse. */
export const isOutermost = true;

/** A logbook takes the same protocol, and is for the processing of personal data only: another setting names it, or it is this service. */
export function contradictions({ tracing: { endpoint }, ...others }: Config, fault: Fault): void {
  if (endpoint === undefined) return;
  const { publicBaseUrl } = others.server;
  const isOwn = publicBaseUrl !== undefined && `${endpoint}/`.startsWith(`${publicBaseUrl}/`);
  if (isOwn || Object.values(others).some((group) => Object.values(group).includes(endpoint))) {
    fault(['TRACING_ENDPOINT'], 'is the address of a logbook or of another service', 'a collector for traces');
  }
}
