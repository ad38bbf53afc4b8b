import type { Config } from '../../settings/read-config.ts';
import { isServed } from './settings.ts';

export const next = (config: Config, baseUrl: string): string[] =>
  isServed(config)
    ? [`see as a citizen what was done with your data: ${baseUrl}/inzage (log in as one of two persons)`]
    : [];
