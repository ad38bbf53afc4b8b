import type { Config } from '../../settings/read-config.ts';
import { HOME } from './context.ts';
import { isServed } from './settings.ts';

export const next = (config: Config, baseUrl: string): string[] =>
  isServed(config) ? [`look at the council information: ${baseUrl}${HOME}`] : [];
